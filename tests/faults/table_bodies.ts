/** Faults of a body: codings, encodings, and JSON of every kind. */

import { gzipSync } from "node:zlib";
import type { Case } from "./case.ts";
import {
  type Fault,
  LITERAL_REGISTRATION,
  matrix,
  MAY_FALL_BACK,
} from "./matrix.ts";
import { changed, respond, SECRET } from "./plays.ts";

const NOT_JSON = { attempt: "invalid_metadata", status: 200 } as const;
/** An object, or an array, without an issuer. */
const NOT_METADATA = { ...NOT_JSON, isRefused: true } as const;
const BROKEN_OFF = { attempt: "network_error", status: 200 } as const;
const TOO_LARGE = { attempt: "response_too_large", status: 200 } as const;

const DEEP = "[".repeat(200_000);
const DEEP_ARRAYS = DEEP + "]".repeat(200_000);
/** A megabyte with what changes a terminal. */
const ANSI = "\x1b[2J\x07\x9b31m\r\0";
const LONG = "x".repeat(1_000_000);

type Change = Parameters<typeof changed>[0];

const coding = (value: string) => ({ "Content-Encoding": value });
const gzip = (text: string | Uint8Array) => new Uint8Array(gzipSync(text));
const same: Change = (json) => json;

function withBytes(...bytes: number[]): Change {
  return (json) => {
    const start = new TextEncoder().encode(`${json.slice(0, -1)},"x":"`);
    return Uint8Array.from([...start, ...bytes, 0x22, 0x7d]);
  };
}

function withJson(members: string): Change {
  return (json) => `${json.slice(0, -1)},${members}}`;
}

/** Puts so many members before those of a document. */
function afterKeys(count: number): Change {
  return (json) => `{${keysOf(count)},${json.slice(1)}`;
}

let bomb: Uint8Array | undefined;
/** 16 MB of spaces in 16 KB; the bombs of 400 MB have a test of their own. */
function bombOnce(): Uint8Array {
  return bomb ??= gzip(new Uint8Array(16_000_000).fill(32));
}

function keysOf(count: number): string {
  return Array.from({ length: count }, (_, key) => `"k${key}":0`).join(",");
}

/** Bodies that no metadata or response can be read from, whatever the function. */
const BODIES: [name: string, body: string, kind: object][] = [
  ["null", "null", NOT_JSON],
  ["a string", '"x"', NOT_JSON],
  ["200,000 arrays that are not closed", DEEP, NOT_JSON],
  ["an empty array", "[]", NOT_METADATA],
  ["an empty object", "{}", NOT_METADATA],
  ["200,000 arrays, one in another", DEEP_ARRAYS, NOT_METADATA],
  ["200,000 arrays for an error", `{"error":${DEEP_ARRAYS}}`, NOT_METADATA],
];

/** Changes of a good document; without a kind, it stays a good one. */
const CHANGES: [name: string, change: Change, kind?: object][] = [
  ["an octet that UTF-8 does not have", withBytes(0xff), NOT_JSON],
  ["a surrogate encoded on its own", withBytes(0xed, 0xa0, 0x80), NOT_JSON],
  ["a surrogate escaped on its own", withJson('"x":"\\ud800"')],
  ["a byte order mark", (json) => `\ufeff${json}`],
  ["two byte order marks", (json) => `\ufeff\ufeff${json}`, NOT_JSON],
  ["a valid document in an array", (json) => `[${json}]`, NOT_METADATA],
  ["truncated JSON", (json) => json.slice(0, -1), NOT_JSON],
  ["spaces around the JSON", (json) => `\r\n\t ${json} \r\n\t`],
  [
    "200,000 arrays in a member of a valid document",
    withJson(`"x":${DEEP_ARRAYS}`),
  ],
  ["80,000 keys beside the right ones", afterKeys(80_000)],
  [
    "duplicate keys, the last one right",
    (json) =>
      '{"issuer":"https://evil.example","resource":"https://evil.example",' +
      '"access_token":1,"client_id":1,"user_code":1,' + json.slice(1),
  ],
  [
    "every member in __proto__",
    (json) => `{"__proto__":${json}}`,
    NOT_METADATA,
  ],
  [
    "__proto__, constructor, then, toJSON and toString beside the rest",
    withJson(
      '"__proto__":{"polluted":1},"constructor":null,"then":"x",' +
        '"toJSON":{},"toString":1,"valueOf":[],"hasOwnProperty":0',
    ),
  ],
];

const FAULTS: Fault[] = [
  { name: "gzip", play: changed(gzip, coding("gzip")) },
  { name: "gzip bomb", play: changed(bombOnce, coding("gzip")), ...TOO_LARGE },
  {
    name: "gzip bomb of status 400",
    play: respond(() => ({
      status: "400 No",
      headers: coding("gzip"),
      body: bombOnce(),
    })),
    attempt: "unexpected_status",
    request: "response_too_large",
    status: 400,
    except: LITERAL_REGISTRATION,
  },
  {
    name: "gzip within gzip",
    play: changed((json) => gzip(gzip(json)), coding("gzip, gzip")),
    ...NOT_JSON,
    mayWork: true,
  },
  {
    name: "a hundred codings",
    play: changed(same, coding(Array(100).fill("gzip").join(", "))),
    ...NOT_JSON,
    // Node fails, Deno returns the body as it was sent.
    attempt: ["invalid_metadata", "TypeError", "network_error"],
    mayWork: true,
    except: {
      discoverAuthorization: {
        outcome: {
          code: "discovery_failed",
          orResult: ({ issuer }, { here }) => issuer === here,
        },
      },
    },
  },
  {
    name: "an unknown coding of a valid document",
    play: changed(same, coding("zzz")),
  },
  {
    name: "an unknown coding of other bytes",
    play: changed(gzip, coding("zzz")),
    ...NOT_JSON,
  },
  {
    name: "a coding that the body does not have",
    play: changed(same, coding("gzip")),
    ...BROKEN_OFF,
  },
  {
    name: "gzip that is truncated",
    play: changed((json) => gzip(json).slice(0, 30), coding("gzip")),
    // Node returns what there is, which is not JSON.
    attempt: ["network_error", "invalid_metadata"],
    status: 200,
    except: {
      discoverAuthorization: MAY_FALL_BACK,
      pollDeviceToken: {
        outcome: { code: ["expired", "invalid_response"] },
        requests: [1, 2],
      },
    },
  },
  {
    name: "gzip that is corrupt",
    play: changed((json) => gzip(json).fill(255, 12, 20), coding("gzip")),
    ...BROKEN_OFF,
  },
  ...BODIES.map(([name, body, kind]): Fault => ({
    name,
    play: respond({ body }),
    ...kind,
  })),
  ...CHANGES.map(([name, change, kind]): Fault => ({
    name,
    play: changed(change),
    ...kind,
  })),
  {
    name: "120,000 keys within a limit that was raised",
    play: changed(afterKeys(120_000)),
    only: ["fetchAuthorizationServerMetadata", "registerClient"],
    options: () => ({ maxBytes: 32_000_000 }),
  },
  {
    name: "an error body of 1 MB with escapes and ANSI sequences",
    play: respond({ status: "400 No", body: ANSI + LONG }),
    attempt: "unexpected_status",
    status: 400,
  },
  {
    name: "an OAuth error of 1 MB with escapes and ANSI sequences",
    play: respond({
      status: "400 No",
      body: JSON.stringify({ error: ANSI, error_description: LONG }),
    }),
    attempt: "unexpected_status",
    // The code is not well-formed and so is left out.
    request: ["oauth_error", "unexpected_status"],
    status: 400,
  },
  {
    name: "a response with secrets and without the required members",
    play: respond({
      body: JSON.stringify({
        client_secret: SECRET,
        registration_access_token: SECRET,
        client: { client_secret: SECRET },
      }),
    }),
    ...NOT_JSON,
    // The body of a metadata document stands in the message, as the literal contract requires.
    only: ["fetchDynamicRegistration", "registerClient", "fetchToken"],
  },
];

export const BODY_CASES: readonly Case[] = matrix(FAULTS);
