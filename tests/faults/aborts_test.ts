import { playTables } from "./_play.ts";

playTables("aborts", "options");
