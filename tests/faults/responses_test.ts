import { playTables } from "./_play.ts";

playTables("responses");
