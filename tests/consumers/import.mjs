/** Loads the client by `import`, in Node, Bun and Deno. */
import * as client from "@oauth-helper/client";
import * as browser from "@oauth-helper/client/browser";
import * as cli from "@oauth-helper/client/cli";
import * as doctor from "@oauth-helper/client/doctor";
import * as native from "@oauth-helper/client/native";
import * as stores from "@oauth-helper/client/stores";
import * as testing from "@oauth-helper/client/testing";
import { runScenario } from "./scenario.js";

const entryPoints = { browser, cli, doctor, native, stores, testing };
const report = await runScenario(client, process.argv[2], entryPoints);
console.log(JSON.stringify({ report }));
