/** Maps URLs to the servers' endpoints. */

import { requireHttpUrl } from "../core/_arguments.ts";
import { ENDPOINT_PATHS, JWKS_PATH } from "./_authorization_server.ts";
import type { TestEndpoint } from "./request.ts";

export interface ServerUrls {
  /** The URL of the resource's metadata. */
  readonly metadataUrl: string;
  readonly origins: readonly string[];
  /** Ignores the query. */
  endpointOf(url: URL): TestEndpoint;
}

const wellKnown = (name: string, path: string) =>
  `/.well-known/${name}${path === "/" ? "" : path}`;

export function serverUrls(resource: string, issuer: string): ServerUrls {
  const { origin, pathname } = requireHttpUrl("options.resource", resource);
  const metadataUrl = origin + wellKnown("oauth-protected-resource", pathname);
  const server = requireHttpUrl("options.issuer", issuer);
  const urls = new Map<string, TestEndpoint>([
    [metadataUrl, "resource_metadata"],
    [
      server.origin + wellKnown("oauth-authorization-server", server.pathname),
      "server_metadata",
    ],
    [issuer + JWKS_PATH, "jwks"],
    ...Object.entries(ENDPOINT_PATHS).map(([name, path]) =>
      [issuer + path, name as keyof typeof ENDPOINT_PATHS] as const
    ),
  ]);
  return {
    metadataUrl,
    origins: [origin, server.origin],
    endpointOf(url) {
      const known = urls.get(url.origin + url.pathname);
      if (known) return known;
      const base = pathname.replace(/\/$/, "");
      const isBelow = `${url.pathname}/`.startsWith(`${base}/`);
      return url.origin === origin && isBelow ? "resource" : "unknown";
    },
  };
}
