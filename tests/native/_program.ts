/**
 * A program that visits a URL. Its argument is the state; it prints the
 * authorization response.
 */

import process from "node:process";
import { createLoopbackReceiver } from "../../lib/native/mod.ts";

const [state = "", paste] = process.argv.slice(2);
const receiver = createLoopbackReceiver({ paste: paste === "paste" });
const redirectUri = await receiver.redirectUri();
console.log(redirectUri);
const response = await receiver.visit(
  new URL("https://as.example/authorize?a=1&b=%22$(id)"),
  { pending: { state, redirectUri } },
);
console.log(response.search);
