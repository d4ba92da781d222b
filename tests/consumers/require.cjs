/** Loads the client, which is an ES module, by `require`, in Node and Bun. */
const client = require("@oauth-helper/client");

const entryPoints = {
  browser: require("@oauth-helper/client/browser"),
  cli: require("@oauth-helper/client/cli"),
  doctor: require("@oauth-helper/client/doctor"),
  native: require("@oauth-helper/client/native"),
  stores: require("@oauth-helper/client/stores"),
  testing: require("@oauth-helper/client/testing"),
};

import("./scenario.js")
  .then(({ runScenario }) => runScenario(client, process.argv[2], entryPoints))
  .then((report) => console.log(JSON.stringify({ report })));
