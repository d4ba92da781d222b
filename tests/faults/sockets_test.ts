/**
 * No connection, no response, and responses that are cut or too large end as their
 * table says.
 */

import { playTables } from "./_play.ts";

playTables("sockets");
