/** Servers that stop to respond are waited for no longer than their table says. */

import { playTables } from "./_play.ts";

playTables("silence");
