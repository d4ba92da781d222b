/**
 * Runs worker.js in workerd: arguments are the compatibility date and the
 * server's address. The modules lie beside this file; no flag is set, and so
 * there is nothing of Node's in the worker.
 */

// By a variable, since this project does not depend on the package and only
// installs it for a run: Deno's type check would look for it otherwise.
const name = "miniflare";
const { Miniflare } = await import(name);

const [compatibilityDate, server] = process.argv.slice(2);
const modules = ["worker.js", "scenario.js", "client.js"];
const miniflare = new Miniflare({
  modules: modules.map((path) => ({ type: "ESModule", path })),
  compatibilityDate,
  // Else miniflare downloads an example of the properties of a request.
  cf: false,
});
try {
  const url = `http://worker.example/?server=${encodeURIComponent(server)}`;
  const response = await miniflare.dispatchFetch(url);
  console.log(await response.text());
} finally {
  await miniflare.dispose();
}
