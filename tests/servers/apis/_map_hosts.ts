/** Leads requests for the hosts of a service to sockets on loopback. */

export type HostFetch = (
  input: string | URL | Request,
  init?: RequestInit,
) => Promise<Response>;

/** Makes a `fetch` that sends requests for the origins of a table to its sockets. */
export function mapHosts(
  sockets: Readonly<Record<string, string>>,
  fetch: HostFetch = globalThis.fetch,
): HostFetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { origin } = new URL(request.url);
    const socket = sockets[origin];
    if (socket === undefined) return await fetch(request);
    const url = socket + request.url.slice(origin.length);
    const response = await fetch(new Request(url, request));
    return Object.defineProperty(response, "url", { value: request.url });
  };
}
