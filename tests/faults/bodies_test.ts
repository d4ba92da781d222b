/** Bodies that break off, grow or say nothing end with the errors of their table. */

import { playTables } from "./_play.ts";

playTables("bodies");
