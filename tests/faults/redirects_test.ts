/**
 * Redirects end as their table says, and odd or unsafe URLs are requested as theirs
 * does.
 */

import { playTables } from "./_play.ts";

playTables("redirects", "urls");
