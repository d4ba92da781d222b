/** Converts a session's server and client for the protocol functions. */

import type { KnownClient } from "../client/known_client.ts";
import type { ServerMetadata } from "../core/metadata.ts";

export function serverOf(
  { server, issuer }: {
    readonly issuer: string;
    readonly server: Omit<ServerMetadata, "issuer">;
  },
): ServerMetadata {
  return { ...server, issuer };
}

// One object for each stored client, because it identifies the noted encoding.
const clients = /* @__PURE__ */ new WeakMap<object, KnownClient>();

export function clientIn(
  session:
    | {
      readonly issuer: string;
      readonly client?: Omit<KnownClient, "issuer">;
    }
    | null
    | undefined,
): KnownClient | undefined {
  const { client, issuer = "" } = session ?? {};
  if (!client) return undefined;
  const known = clients.get(client) ?? { ...client, issuer };
  clients.set(client, known);
  return known;
}
