import { playTables } from "./_play.ts";

playTables("redirects", "urls");
