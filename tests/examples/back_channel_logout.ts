import { getClaimsFromJWT, type SessionStore } from "@oauth-helper/client";
import type { WebSignIn } from "@oauth-helper/client/web";
import { createRemoteJWKSet, jwtVerify } from "jose";

/** A table of yours: which sessions of the site belong to which session of the server. */
export interface SessionTable {
  add(row: { id: string; sub: string; sid: string | undefined }): Promise<void>;
  /** The identifiers for a `sid`, or without it for a `sub`. */
  find(by: { sub?: string; sid?: string }): Promise<string[]>;
}

/** For `storeOf`: notes whose session it is. Request the scope `openid`. */
export function noted(
  id: string,
  store: SessionStore,
  table: SessionTable,
): SessionStore {
  return {
    ...store,
    async save(session, former) {
      const isSaved = await store.save(session, former);
      const { id_token } = session?.token ?? {};
      const { sub, sid } = id_token ? getClaimsFromJWT(id_token) : {};
      if (isSaved === false || typeof sub !== "string") return isSaved;
      const known = typeof sid === "string" ? sid : undefined;
      await table.add({ id, sub, sid: known });
      return isSaved;
    },
  };
}

const EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** Returns the body of a request: anybody can post to the route. */
async function bodyOf({ body }: Request): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > 65_536) throw new Error("No logout token is that long");
  }
  return text;
}

/** Creates the route to which the server posts its logout tokens. */
export function createBackChannelLogout(
  signIn: WebSignIn,
  table: SessionTable,
  // `issuer` and `jwks_uri` are in the server's metadata.
  server: { issuer: string; jwksUri: string; clientId: string },
) {
  const keys = createRemoteJWKSet(new URL(server.jwksUri));

  /** Checks a logout token (OpenID Connect Back-Channel Logout 1.0, section 2.6). */
  async function read(token: string): Promise<{ sub?: string; sid?: string }> {
    const { payload } = await jwtVerify(token, keys, {
      issuer: server.issuer,
      audience: server.clientId,
      maxTokenAge: "2 minutes",
      requiredClaims: ["jti", "exp"],
    });
    const { events, nonce, sub, sid } = payload;
    const isLogout = events instanceof Object && EVENT in events;
    if (!isLogout || nonce !== undefined) throw new Error("No logout token");
    if (typeof sid === "string") return { sid };
    if (typeof sub === "string") return { sub };
    throw new Error("The logout token names no session and no user");
  }

  return async (request: Request): Promise<Response> => {
    const headers = { "Cache-Control": "no-store" };
    let who;
    try {
      const form = new URLSearchParams(await bodyOf(request));
      who = await read(form.get("logout_token") ?? "");
    } catch {
      return new Response("invalid_request", { status: 400, headers });
    }
    // A session that cannot be read must not keep the others signed in.
    const ends = (await table.find(who)).map(async (id) =>
      await (await signIn.apiOfSession(id))?.revoke()
    );
    const isDone = (await Promise.allSettled(ends))
      .every(({ status }) => status === "fulfilled");
    return new Response(undefined, { status: isDone ? 200 : 400, headers });
  };
}
