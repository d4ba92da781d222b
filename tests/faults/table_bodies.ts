/** Faults of a body: codings, encodings, and JSON of every kind. */

import { gzipSync } from "node:zlib";
import type { ICase } from "./case.ts";
import { type IFault, matrix, MAY_FALL_BACK } from "./matrix.ts";
import { changed, respond, SECRET } from "./plays.ts";

const NOT_JSON = { attempt: "invalid_metadata", status: 200 } as const;
/** An object, or an array, without an issuer. */
const NOT_METADATA = { ...NOT_JSON, isRefused: true } as const;
const BROKEN_OFF = "network_error";
const DEEP = 200_000;

const gzip = (text: string | Uint8Array) => new Uint8Array(gzipSync(text));

function utf16(text: string, littleEndian: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(2 * text.length + 2));
  [...`\ufeff${text}`].forEach((char, index) =>
    view.setUint16(2 * index, char.charCodeAt(0), littleEndian)
  );
  return new Uint8Array(view.buffer);
}

/** The bytes of a string, followed by others. */
function withBytes(text: string, ...further: number[]): Uint8Array {
  return Uint8Array.from([...new TextEncoder().encode(text), ...further]);
}

function body(name: string, content: string | Uint8Array): IFault {
  return { name, play: respond({ body: content }), ...NOT_JSON };
}

let bomb: Uint8Array | undefined;
/** 64 MB of spaces in 64 KB; the bombs of 400 MB have a test of their own. */
function bombOnce(): Uint8Array {
  return bomb ??= gzip(new Uint8Array(64_000_000).fill(32));
}

const FAULTS: IFault[] = [
  {
    name: "gzip",
    play: changed(gzip, { "Content-Encoding": "gzip" }),
  },
  {
    name: "gzip bomb",
    play: changed(bombOnce, { "Content-Encoding": "gzip" }),
    attempt: "response_too_large",
    status: 200,
  },
  {
    name: "gzip bomb of status 400",
    play: respond(() => ({
      status: "400 No",
      headers: { "Content-Encoding": "gzip" },
      body: bombOnce(),
    })),
    attempt: "unexpected_status",
    request: "response_too_large",
    status: 400,
    except: {
      fetchDynamicRegistration: { outcome: { code: "unexpected_status" } },
      registerClient: { outcome: { code: "unexpected_status" } },
    },
  },
  {
    name: "gzip within gzip",
    play: changed((json) => gzip(gzip(json)), {
      "Content-Encoding": "gzip, gzip",
    }),
    ...NOT_JSON,
    mayWork: true,
  },
  {
    name: "a hundred codings",
    play: changed((json) => json, {
      "Content-Encoding": Array(100).fill("gzip").join(", "),
    }),
    ...NOT_JSON,
    // Node fails, Deno returns the body as it was sent.
    attempt: ["invalid_metadata", "TypeError", BROKEN_OFF],
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
    play: changed((json) => json, { "Content-Encoding": "zzz" }),
  },
  {
    name: "an unknown coding of other bytes",
    play: changed((json) => gzip(json), { "Content-Encoding": "zzz" }),
    ...NOT_JSON,
  },
  {
    name: "a coding that the body does not have",
    play: changed((json) => json, { "Content-Encoding": "gzip" }),
    attempt: BROKEN_OFF,
    status: 200,
  },
  {
    name: "gzip that is truncated",
    play: changed((json) => gzip(json).slice(0, 30), {
      "Content-Encoding": "gzip",
    }),
    // Node returns what there is, which is not JSON.
    attempt: [BROKEN_OFF, "invalid_metadata"],
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
    play: changed((json) => gzip(json).fill(255, 12, 20), {
      "Content-Encoding": "gzip",
    }),
    attempt: BROKEN_OFF,
    status: 200,
  },
  body("invalid UTF-8", withBytes('{"issuer":"', 0xc3, 0x28, 0x22, 0x7d)),
  {
    name: "invalid UTF-8 in a document that is right otherwise",
    play: changed((json) =>
      withBytes(json.slice(0, -1) + ',"x":"', 255, 34, 125)
    ),
    ...NOT_JSON,
  },
  {
    name: "an overlong encoding",
    play: changed((json) =>
      withBytes(json.slice(0, -1) + ',"x":"', 0xc0, 0xaf, 34, 125)
    ),
    ...NOT_JSON,
  },
  {
    name: "a surrogate encoded on its own",
    play: changed((json) =>
      withBytes(json.slice(0, -1) + ',"x":"', 0xed, 0xa0, 0x80, 34, 125)
    ),
    ...NOT_JSON,
  },
  {
    name: "a surrogate escaped on its own",
    play: changed((json) => json.slice(0, -1) + ',"x":"\\ud800"}'),
  },
  {
    name: "UTF-16, little end first",
    play: changed((json) => utf16(json, true)),
    ...NOT_JSON,
  },
  {
    name: "UTF-16, big end first",
    play: changed((json) => utf16(json, false)),
    ...NOT_JSON,
  },
  { name: "a byte order mark", play: changed((json) => `\ufeff${json}`) },
  {
    name: "two byte order marks",
    play: changed((json) => `\ufeff\ufeff${json}`),
    ...NOT_JSON,
  },
  body("null", "null"),
  body("true", "true"),
  body("a number", "1"),
  body("a string", '"x"'),
  { ...body("an empty array", "[]"), ...NOT_METADATA },
  { ...body("an empty object", "{}"), ...NOT_METADATA },
  {
    name: "a valid document in an array",
    play: changed((json) => `[${json}]`),
    ...NOT_METADATA,
  },
  {
    name: "a valid document in a string",
    play: changed((json) => JSON.stringify(json)),
    ...NOT_JSON,
  },
  {
    name: "truncated JSON",
    play: changed((json) => json.slice(0, -1)),
    ...NOT_JSON,
  },
  {
    name: "bytes behind the JSON",
    play: changed((json) => `${json}\0`),
    ...NOT_JSON,
  },
  {
    name: "two objects",
    play: changed((json) => json + json),
    ...NOT_JSON,
  },
  {
    name: "a comment and a comma too many",
    play: changed((json) => json.replace("{", "{/**/").replace("}", ",}")),
    ...NOT_JSON,
  },
  {
    name: "spaces around the JSON",
    play: changed((json) => `\r\n\t ${json} \r\n\t`),
  },
  {
    ...body(
      "200,000 arrays, one in another",
      "[".repeat(DEEP) + "]".repeat(DEEP),
    ),
    ...NOT_METADATA,
  },
  body("200,000 arrays that are not closed", "[".repeat(DEEP)),
  {
    name: "200,000 arrays in a member of a valid document",
    play: changed((json) =>
      `${json.slice(0, -1)},"x":${"[".repeat(DEEP)}${"]".repeat(DEEP)}}`
    ),
  },
  {
    name: "200,000 arrays for an error",
    play: respond({
      body: `{"error":${"[".repeat(DEEP)}${"]".repeat(DEEP)}}`,
    }),
    ...NOT_METADATA,
  },
  {
    name: "a million keys",
    play: changed(() => keysOf(1_000_000)),
    attempt: "response_too_large",
    status: 200,
    only: ["fetchResourceMetadata", "registerClient", "fetchToken"],
  },
  {
    name: "80,000 keys beside the right ones",
    play: changed((json) => `${keysOf(80_000).slice(0, -1)},${json.slice(1)}`),
  },
  {
    name: "300,000 keys within a limit that was raised",
    play: changed((json) => `${keysOf(300_000).slice(0, -1)},${json.slice(1)}`),
    only: ["fetchAuthorizationServerMetadata", "registerClient"],
    options: () => ({ maxBytes: 32_000_000 }),
  },
  {
    name: "duplicate keys, the last one right",
    play: changed((json) =>
      '{"issuer":"https://evil.example","resource":"https://evil.example",' +
      '"access_token":1,"client_id":1,"user_code":1,' + json.slice(1)
    ),
  },
  {
    name: "every member in __proto__",
    play: changed((json) => `{"__proto__":${json}}`),
    ...NOT_METADATA,
  },
  {
    name: "every member in constructor.prototype",
    play: changed((json) => `{"constructor":{"prototype":${json}}}`),
    ...NOT_METADATA,
  },
  {
    name: "__proto__, constructor, then, toJSON and toString beside the rest",
    play: changed((json) =>
      json.slice(0, -1) +
      ',"__proto__":{"polluted":1},"constructor":null,"then":"x",' +
      '"toJSON":{},"toString":1,"valueOf":[],"hasOwnProperty":0}'
    ),
  },
  {
    name: "names in capital letters",
    play: changed((json) =>
      json.replace(/"(\w+)":/g, (name) => name.toUpperCase())
    ),
    ...NOT_METADATA,
  },
  {
    name: "names that look alike",
    play: changed((json) =>
      json.replace(/"(\w+)":/g, (name) => name.replace(/[eo]/, "\u0435"))
    ),
    ...NOT_METADATA,
  },
  {
    name: "names with a zero-width space",
    play: changed((json) => json.replace(/(\w)":/g, '$1\u200b":')),
    ...NOT_METADATA,
  },
  {
    name: "1e400 in a member of a valid document",
    play: changed((json) => json.slice(0, -1) + ',"x":1e400,"interval":1e400}'),
  },
  {
    name: "an error body of 1 MB with escapes and ANSI sequences",
    play: respond({
      status: "400 No",
      body: `\x1b[2J\x07\x9b31m\r\0${"x".repeat(1_000_000)}`,
    }),
    attempt: "unexpected_status",
    status: 400,
  },
  {
    name: "an OAuth error of 1 MB with escapes and ANSI sequences",
    play: respond({
      status: "400 No",
      body: JSON.stringify({
        error: "\x1b[2J\x07\x9b31m\r\0",
        error_description: "x".repeat(1_000_000),
      }),
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
    // The body of a metadata document stands in the message, as SPEC.md has it.
    only: ["fetchDynamicRegistration", "registerClient", "fetchToken"],
  },
];

const keys = new Map<number, string>();
/** An object of so many members, made once. */
function keysOf(count: number): string {
  const json = keys.get(count) ??
    `{${Array.from({ length: count }, (_, key) => `"k${key}":0`).join(",")}}`;
  keys.set(count, json);
  return json;
}

/** The cases. */
export const BODY_CASES: readonly ICase[] = matrix(FAULTS);
