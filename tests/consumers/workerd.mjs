/**
 * Runs worker.js in workerd: arguments are the compatibility date and the origin
 * of the server. The modules are in the folder of this file. No compatibility flag
 * is set, so the worker has no API of Node.
 */

// In a variable, so that Deno's type check does not look for the package, which is
// installed for a run only.
const name = "miniflare";
const { Miniflare } = await import(name);

const [compatibilityDate, server] = process.argv.slice(2);
const modules = ["worker.js", "scenario.js", "client.js"];
const miniflare = new Miniflare({
  modules: modules.map((path) => ({ type: "ESModule", path })),
  compatibilityDate,
  // Otherwise miniflare downloads an example of the properties of a request.
  cf: false,
});
try {
  const url = `http://worker.example/?server=${encodeURIComponent(server)}`;
  const response = await miniflare.dispatchFetch(url);
  console.log(await response.text());
} finally {
  await miniflare.dispose();
}
