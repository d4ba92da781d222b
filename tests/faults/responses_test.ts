/** Responses with unusual statuses and contents lead to the results of their table. */

import { playTables } from "./_play.ts";

playTables("responses");
