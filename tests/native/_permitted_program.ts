/** A program that signs in. It prints the redirect URI, and the query of the response. */

import { createLoopbackReceiver } from "../../lib/native/mod.ts";

const receiver = createLoopbackReceiver({ port: 0 });
const redirectUri = await receiver.redirectUri();
console.log(redirectUri);
const pending = { state: "s1", redirectUri };
const url = new URL("https://as.example/authorize");
console.log((await receiver.visit(url, { pending })).search);
