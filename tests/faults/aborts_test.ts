/** Aborts, odd options and many calls at once end as their tables say. */

import { playTables } from "./_play.ts";

playTables("aborts", "options");
