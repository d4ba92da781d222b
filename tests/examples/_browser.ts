/**
 * The stand-in for the command that opens a browser: a user who consents. Its
 * argument is the URL; it also opens what the user is redirected to.
 */

import { createBrowser } from "../servers/browser.ts";

const [url = ""] = Deno.args;
const response = await fetch(await createBrowser().authorize(url));
await response.body?.cancel();
