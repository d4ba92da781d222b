/** Names the process to the servers, in each request: the second argument of the program. */

const { fetch } = globalThis;
globalThis.fetch = (input, init) => {
  const request = new Request(input, init);
  request.headers.set("X-Process", Deno.args[1] ?? "");
  return fetch(request);
};
