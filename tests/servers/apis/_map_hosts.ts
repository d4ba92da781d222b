/** Leads requests for the hosts of a service to sockets on loopback. */

export type HostFetch = (
  input: string | URL | Request,
  init?: RequestInit,
) => Promise<Response>;

/** Makes a `fetch` for the origins of a table; any other one fails. */
export function mapHosts(
  sockets: Readonly<Record<string, string>>,
  fetch: HostFetch = globalThis.fetch,
): HostFetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { origin } = new URL(request.url);
    const socket = sockets[origin];
    if (!socket) throw new TypeError(`${origin} is not a host of this test`);
    const headers = new Headers(request.headers);
    // Deno adds one of its own, and Workers send none.
    if (!headers.has("User-Agent")) headers.set("User-Agent", "");
    const url = socket + request.url.slice(origin.length);
    const response = await fetch(new Request(url, request), { headers });
    return Object.defineProperty(response, "url", { value: request.url });
  };
}
