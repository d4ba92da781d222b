/** Faults below HTTP: no connection, no response, responses that are cut or too large. */

import process from "node:process";
import type { Case } from "./case.ts";
import type { Play } from "./fault_server.ts";
import {
  type Fault,
  FEW,
  IS_FALLBACK,
  LITERAL_REGISTRATION,
  matrix,
} from "./matrix.ts";
import {
  bytes,
  chunk,
  chunkedHead,
  documentFor,
  endless,
  headOf,
  thenReset,
  thenSilence,
} from "./plays.ts";

type Kind = Omit<Fault, "name" | "play">;

const NO_RESPONSE: Kind = { attempt: "TypeError" };
const BROKEN_OFF: Kind = { attempt: "network_error", status: 200 };
/** Broken off by a reset, which may overtake what was written before it. */
const RESET = {
  attempt: ["network_error", "TypeError"],
  status: 200,
} as const satisfies Kind;
const TOO_LARGE: Kind = { attempt: "response_too_large", status: 200 };
/** A body that is too large, of a status that tells a discovery enough. */
const LARGE_ERROR: Kind = {
  attempt: "unexpected_status",
  request: "response_too_large",
  except: LITERAL_REGISTRATION,
};

const isNode = (major: string) =>
  !("Deno" in globalThis) && process.versions.node.startsWith(`${major}.`);
// Node 20, and Node 22 before 22.23, do not see that a chunked body has been cut.
const CUT: Kind = {
  attempt: ["network_error", "invalid_metadata"],
  status: 200,
  except: {
    ...(isNode("20") && {
      discoverAuthorization: { outcome: { result: IS_FALLBACK } },
    }),
    ...(isNode("22") && {
      discoverAuthorization: {
        outcome: { code: "discovery_failed", orResult: IS_FALLBACK },
      },
    }),
    pollDeviceToken: {
      outcome: { code: ["expired", "invalid_response"] },
      requests: [1, 2],
    },
  },
};

function headWith(fields: string): string {
  return headOf({}).replace(/\r\n$/, `${fields}\r\n\r\n`);
}

const PIECE = "x".repeat(65_536);
const START = '{"issuer":';

const PLAYS: [name: string, play: Play, kind: Kind][] = [
  ["closed without a response", bytes(""), NO_RESPONSE],
  ["reset without a response", thenReset(""), NO_RESPONSE],
  [
    "reset within the headers",
    thenReset("HTTP/1.1 200 OK\r\nContent-"),
    NO_RESPONSE,
  ],
  ["not HTTP", bytes("SSH-2.0-OpenSSH_9.9\r\n"), NO_RESPONSE],
  [
    "a TLS record instead of HTTP",
    bytes(Uint8Array.of(0x15, 3, 1, 0, 2, 2, 40)),
    NO_RESPONSE,
  ],
  [
    "two Content-Lengths that differ",
    bytes(headWith("Content-Length: 2\r\nContent-Length: 9") + "{}"),
    NO_RESPONSE,
  ],
  [
    "reset in the middle of the body",
    thenReset(headOf({}, 100) + START),
    RESET,
  ],
  ["chunked body cut within a chunk", bytes(chunkedHead() + "64\r\n{"), CUT],
  [
    "chunked body cut between chunks",
    bytes(chunkedHead() + chunk(START)),
    CUT,
  ],
  [
    "chunked body with an invalid length",
    bytes(chunkedHead() + "zz\r\n{}\r\n0\r\n\r\n"),
    RESET,
  ],
  ["Content-Length too large", bytes(headOf({}, 100) + "{}"), BROKEN_OFF],
  [
    "Content-Length too small",
    bytes(headOf({}, 3) + '{"issuer":"x"}'),
    { attempt: "invalid_metadata", status: 200 },
  ],
  [
    "Content-Length of 10 GB",
    thenSilence(headOf({}, 10_000_000_000) + "{"),
    TOO_LARGE,
  ],
  [
    "Content-Length one above the limit",
    thenSilence(headOf({}, 1_048_577)),
    TOO_LARGE,
  ],
  [
    "Content-Length beyond every number",
    thenSilence(headWith(`Content-Length: ${"9".repeat(400)}`)),
    { attempt: ["TypeError", "response_too_large"] },
  ],
  [
    "status 500 with a Content-Length of 10 GB",
    thenSilence(headOf({ status: "500 Down" }, 10_000_000_000)),
    { ...LARGE_ERROR, status: 500 },
  ],
  [
    "status 404 with an endless body",
    endless(chunkedHead({ status: "404 Gone" }), chunk(PIECE)),
    { ...LARGE_ERROR, status: 404 },
  ],
  [
    "endless spaces",
    endless(chunkedHead(), chunk(" ".repeat(65_536))),
    TOO_LARGE,
  ],
  ["endless string", endless(`${headOf({})}${START}"`, PIECE), TOO_LARGE],
  [
    "a valid document and endless spaces a byte at a time",
    endless(chunkedHead() + chunk('{"a":1}'), chunk(" ").repeat(4_096)),
    { ...TOO_LARGE, options: () => ({ maxBytes: 2_000 }), only: FEW },
  ],
  [
    "headers for ever",
    endless("HTTP/1.1 200 OK\r\n", `X-Long: ${"x".repeat(8_000)}\r\n`),
    NO_RESPONSE,
  ],
  [
    "a whole response and a reset after it",
    async (stage) => {
      const json = JSON.stringify(documentFor(stage));
      await stage.write(headOf({}, json.length) + json);
      stage.reset();
    },
    { attempt: RESET.attempt, mayWork: true },
  ],
];

const FAULTS: Fault[] = [
  {
    name: "connection refused",
    server: "gone",
    ...NO_RESPONSE,
    unheard: true,
    networkReason: "connection_refused",
  },
  {
    name: "self-signed TLS",
    server: "tls",
    ...NO_RESPONSE,
    unheard: true,
    networkReason: "certificate",
  },
  {
    name: "TLS with an expired certificate",
    server: "expired tls",
    ...NO_RESPONSE,
    unheard: true,
    networkReason: "certificate_expired",
  },
  {
    name: "a small Content-Length, and chunks above the limit",
    play: thenSilence(
      chunkedHead().replace("\r\n\r\n", "\r\nContent-Length: 2\r\n\r\n") +
        chunk(" ".repeat(1_048_577)),
    ),
    ...TOO_LARGE,
    // Node rejects a response with both header fields.
    attempt: ["TypeError", "response_too_large"],
    request: ["network_error", "response_too_large"],
    only: FEW,
  },
  ...PLAYS.map(([name, play, kind]): Fault => ({ name, play, ...kind })),
];

export const SOCKET_CASES: readonly Case[] = matrix(FAULTS);
