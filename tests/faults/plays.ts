/** What a fault server can play, and the documents that a good server sends. */

import type { Play, Stage } from "./fault_server.ts";

/** Stands in every secret of the table, so that one search finds a leak. */
export const SECRET = "s3cret";

/** Audience of the ID-JAG that a good server issues. */
export const AUDIENCE = "https://redeeming.example";

function base64Url(value: unknown): string {
  return btoa(JSON.stringify(value)).replaceAll("+", "-").replaceAll("/", "_")
    .replaceAll("=", "");
}

export function idJagOf(iss: string, claims: Record<string, unknown> = {}) {
  const header = { alg: "none", typ: "oauth-id-jag+jwt" };
  const all = {
    iss,
    sub: "user",
    aud: AUDIENCE,
    client_id: "c1",
    jti: "1",
    iat: 1,
    exp: 4_000_000_000,
    ...claims,
  };
  return `${base64Url(header)}.${base64Url(all)}.${SECRET}-signature`;
}

export function documentFor(
  { request, origin }: Stage,
): Record<string, unknown> {
  const path = request.path.replace(/\?.*/, "");
  const { body } = request;
  const [, prefix, name] = path.split("/");
  if (prefix === ".well-known" && name === "oauth-protected-resource") {
    const own = path.slice("/.well-known/oauth-protected-resource".length);
    return { resource: origin + own, authorization_servers: [origin] };
  }
  if (path.includes("/.well-known/")) {
    const own = path.replace(/\/\.well-known\/[^/]+/, "");
    return {
      issuer: origin + own,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
    };
  }
  if (path === "/register") {
    return { client_id: "c1", client_secret: "registered" };
  }
  if (path === "/device") {
    return {
      device_code: `${SECRET}-device`,
      user_code: "WDJB-MJHT",
      verification_uri: "https://as.example/activate",
      expires_in: 600,
    };
  }
  if (path === "/bc-authorize") {
    return { auth_req_id: `${SECRET}-request`, expires_in: 600 };
  }
  if (body.includes("requested_token_type=")) {
    return {
      access_token: idJagOf(origin),
      issued_token_type: "urn:ietf:params:oauth:token-type:id-jag",
      token_type: "N_A",
    };
  }
  return { access_token: `${SECRET}-access`, token_type: "Bearer" };
}

/** A respond, as far as it is not the usual one. */
export interface ResponseParts {
  /** Status and reason phrase; `200 OK` when absent. */
  status?: string;
  /** Further header fields, or other values; null leaves one out. */
  headers?: Record<string, string | null>;
  /** The body; a good server's document when absent. */
  body?: string | Uint8Array;
}

/** The head of a respond, as it goes over the wire. */
export function headOf(
  { status = "200 OK", headers = {} }: ResponseParts,
  length?: number,
): string {
  const fields = Object.entries({
    "Content-Type": "application/json",
    ...(length !== undefined && { "Content-Length": String(length) }),
    Connection: "close",
    ...headers,
  }).filter(([, value]) => value !== null);
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join("")}\r\n`;
}

export function respond(
  parts: ResponseParts | ((stage: Stage) => ResponseParts) = {},
): Play {
  return async (stage) => {
    const given = typeof parts === "function" ? parts(stage) : parts;
    const body = given.body ?? JSON.stringify(documentFor(stage));
    const bytes = typeof body === "string"
      ? new TextEncoder().encode(body)
      : body;
    const head = new TextEncoder().encode(headOf(given, bytes.length));
    const all = new Uint8Array(head.length + bytes.length);
    all.set(head);
    all.set(bytes, head.length);
    await stage.write(all);
    stage.end();
  };
}

/** Plays a good response: status 200 and the requested document. */
export const good: Play = respond();

/** Plays a good server's document after it went through a change. */
export function changed(
  change: (json: string, stage: Stage) => string | Uint8Array,
  headers: Record<string, string | null> = {},
): Play {
  return respond((stage) => ({
    body: change(JSON.stringify(documentFor(stage)), stage),
    headers,
  }));
}

/** Writes these bytes as they are and closes the connection. */
export function bytes(
  content: string | Uint8Array | ((stage: Stage) => string),
): Play {
  return async (stage) => {
    await stage.write(
      typeof content === "function" ? content(stage) : content,
    );
    stage.end();
  };
}

export function thenReset(content: string): Play {
  return async (stage) => {
    await stage.write(content);
    stage.reset();
  };
}

/** Writes these bytes and nothing more, while the connection stands. */
export function thenSilence(content = ""): Play {
  return async (stage) => {
    if (content) await stage.write(content);
  };
}

/** Writes the head, then a byte from time to time, for ever. */
export function dripping(head: string, drop: string): Play {
  return async (stage) => {
    await stage.write(head);
    stage.every(100, () => stage.write(drop));
  };
}

/** Writes the beginning, then the same piece for ever. */
export function endless(beginning: string, piece: string): Play {
  return async (stage) => {
    await stage.write(beginning);
    while (stage.isOpen) await stage.write(piece);
  };
}

/** A piece of a chunked body (RFC 9112, section 7.1). */
export function chunk(content: string): string {
  const { length } = new TextEncoder().encode(content);
  return `${length.toString(16)}\r\n${content}\r\n`;
}

export function chunkedHead(parts: ResponseParts = {}): string {
  return headOf({
    ...parts,
    headers: { "Transfer-Encoding": "chunked", ...parts.headers },
  });
}

export function redirectTo(
  location: string | null | ((stage: Stage) => string),
  status = 302,
): Play {
  return respond((stage) => ({
    status: `${status} Moved`,
    headers: {
      Location: typeof location === "function" ? location(stage) : location,
    },
    body: "Moved",
  }));
}
