import { playTables } from "./_play.ts";

playTables("silence");
