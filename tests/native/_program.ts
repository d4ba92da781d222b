/**
 * A program that visits a URL. Its arguments are the state, whether the response may be
 * pasted, `$BROWSER`, and the address to listen on, at a free port; it prints the
 * authorization response.
 */

import process from "node:process";
import { createLoopbackReceiver } from "../../lib/native/mod.ts";

const [state = "", paste, browser = "", bind] = process.argv.slice(2);
process.env.BROWSER = browser;
const receiver = createLoopbackReceiver({
  paste: paste === "paste",
  ...(bind ? { bind, port: 0 } : {}),
});
const redirectUri = await receiver.redirectUri();
console.log(redirectUri);
const response = await receiver.visit(
  new URL("https://as.example/authorize?a=1&b=%22$(id)"),
  { pending: { state, redirectUri } },
);
console.log(response.search);
