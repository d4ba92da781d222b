/** Loads the client by `import`, in Node, Bun and Deno. */
import { runScenario } from "./scenario.js";

const started = performance.now();
const client = await import("@oauth-helper/client");
const importMs = performance.now() - started;
const report = await runScenario(client, process.argv[2], {
  browser: await import("@oauth-helper/client/browser"),
  cli: await import("@oauth-helper/client/cli"),
  doctor: await import("@oauth-helper/client/doctor"),
  native: await import("@oauth-helper/client/native"),
  stores: await import("@oauth-helper/client/stores"),
  testing: await import("@oauth-helper/client/testing"),
});
console.log(JSON.stringify({ importMs, report }));
