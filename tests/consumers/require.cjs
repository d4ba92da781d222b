/** Loads the client by `require`, in Node and Bun. */
const started = performance.now();
const client = require("@oauth-helper/client");
const importMs = performance.now() - started;
// `require` returns the namespace of an ES module.
const kind = client[Symbol.toStringTag] === "Module" ? "ESM" : "CommonJS";

import("./scenario.js")
  .then(({ runScenario }) => runScenario(client, process.argv[2]))
  .then((report) => console.log(JSON.stringify({ importMs, kind, report })));
