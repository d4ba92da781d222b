/** Faults below HTTP: no connection, no response, responses that stop or never end. */

import process from "node:process";
import type { ICase } from "./case.ts";
import { type IFault, matrix } from "./matrix.ts";
import {
  bytes,
  chunk,
  chunkedHead,
  documentFor,
  dripping,
  endless,
  headOf,
  thenReset,
  thenSilence,
} from "./plays.ts";

const BROKEN_OFF = {
  attempt: "network_error",
  status: 200,
} as const;
const isNode20 = !("Deno" in globalThis) &&
  process.versions.node.startsWith("20.");
// Node 20 does not see that a chunked body has been cut.
const CUT: Omit<IFault, "name"> = {
  attempt: ["network_error", "invalid_metadata"],
  status: 200,
  except: {
    ...(isNode20 && {
      discoverAuthorization: {
        outcome: {
          result: ({ source, issuer }, { here }) =>
            source === "fallback" && issuer === here,
        },
      },
    }),
    pollDeviceToken: {
      outcome: { code: ["expired", "invalid_response"] },
      requests: [1, 2],
    },
  },
};
const TOO_LARGE = {
  attempt: "response_too_large",
  status: 200,
} as const;
const SILENT = { attempt: "timeout", timeoutMs: 80 } as const;
/** One of each kind, for cases that take long. */
const FEW: IFault["only"] = [
  "fetchAuthorizationServerMetadata",
  "discoverAuthorization",
  "registerClient",
  "fetchToken",
];
const NO_RESPONSE = { attempt: "TypeError" } as const;

const FAULTS: IFault[] = [
  {
    name: "connection refused",
    server: "gone",
    ...NO_RESPONSE,
    unheard: true,
    message: "failed: connection refused (",
  },
  {
    name: "self-signed TLS",
    server: "tls",
    ...NO_RESPONSE,
    unheard: true,
    message: "failed: certificate not accepted (",
  },
  { name: "accepted and silent", play: thenSilence(), ...SILENT },
  {
    name: "headers, then silence",
    play: thenSilence(headOf({}, 100)),
    ...SILENT,
  },
  {
    name: "half of the headers, then silence",
    play: thenSilence("HTTP/1.1 200 OK\r\nContent-Ty"),
    ...SILENT,
  },
  {
    name: "half of the body, then silence",
    play: thenSilence(headOf({}, 100) + '{"issuer":'),
    ...SILENT,
  },
  {
    name: "chunked body without an end",
    play: thenSilence(chunkedHead() + chunk("{}")),
    ...SILENT,
  },
  {
    name: "status 400 and half of the body, then silence",
    play: thenSilence(headOf({ status: "400 Bad Request" }, 100) + "{"),
    ...SILENT,
  },
  {
    name: "a byte of the body per 100 ms for ever",
    play: dripping(headOf({}, 100_000), " "),
    ...SILENT,
    timeoutMs: 250,
    only: FEW,
  },
  {
    name: "a byte of a header per 100 ms for ever",
    play: dripping("HTTP/1.1 200 OK\r\nX-Long: ", "x"),
    ...SILENT,
    timeoutMs: 250,
    only: FEW,
  },
  { name: "closed without a response", play: bytes(""), ...NO_RESPONSE },
  { name: "reset without a response", play: thenReset(""), ...NO_RESPONSE },
  {
    name: "reset within the headers",
    play: thenReset("HTTP/1.1 200 OK\r\nContent-"),
    ...NO_RESPONSE,
  },
  { name: "not HTTP", play: bytes("SSH-2.0-OpenSSH_9.9\r\n"), ...NO_RESPONSE },
  {
    name: "a TLS record instead of HTTP",
    play: bytes(Uint8Array.of(0x15, 3, 1, 0, 2, 2, 40)),
    ...NO_RESPONSE,
  },
  {
    name: "two Content-Lengths that differ",
    play: bytes(
      headOf({}).replace(
        "\r\n\r\n",
        "\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\n{}",
      ),
    ),
    ...NO_RESPONSE,
  },
  {
    name: "reset in the middle of the body",
    play: thenReset(headOf({}, 100) + '{"issuer":'),
    ...BROKEN_OFF,
    // A reset may overtake the headers.
    attempt: ["network_error", "TypeError"],
  },
  {
    name: "chunked body cut within a chunk",
    play: bytes(chunkedHead() + "64\r\n{"),
    ...CUT,
  },
  {
    name: "chunked body cut between chunks",
    play: bytes(chunkedHead() + chunk('{"issuer":')),
    ...CUT,
  },
  {
    name: "chunked body with an invalid length",
    play: bytes(chunkedHead() + "zz\r\n{}\r\n0\r\n\r\n"),
    ...BROKEN_OFF,
    attempt: ["network_error", "TypeError"],
  },
  {
    name: "Content-Length too large",
    play: bytes(headOf({}, 100) + "{}"),
    ...BROKEN_OFF,
  },
  {
    name: "Content-Length too small",
    play: bytes(headOf({}, 3) + '{"issuer":"x"}'),
    attempt: "invalid_metadata",
    status: 200,
  },
  {
    name: "Content-Length of 10 GB",
    play: thenSilence(headOf({}, 10_000_000_000) + "{"),
    ...TOO_LARGE,
  },
  {
    name: "Content-Length one above the limit",
    play: thenSilence(headOf({}, 1_048_577)),
    ...TOO_LARGE,
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
  {
    name: "Content-Length beyond every number",
    play: thenSilence(
      headOf({}).replace(
        "\r\n\r\n",
        `\r\nContent-Length: ${"9".repeat(400)}\r\n\r\n`,
      ),
    ),
    ...NO_RESPONSE,
    attempt: ["TypeError", "response_too_large"],
  },
  {
    name: "status 500 with a Content-Length of 10 GB",
    play: thenSilence(headOf({ status: "500 Down" }, 10_000_000_000)),
    attempt: "unexpected_status",
    request: "response_too_large",
    status: 500,
    except: {
      fetchDynamicRegistration: { outcome: { code: "unexpected_status" } },
      registerClient: { outcome: { code: "unexpected_status" } },
    },
  },
  {
    name: "status 404 with an endless body",
    play: endless(
      chunkedHead({ status: "404 Gone" }),
      chunk("x".repeat(65_536)),
    ),
    attempt: "unexpected_status",
    request: "response_too_large",
    status: 404,
    except: {
      fetchDynamicRegistration: { outcome: { code: "unexpected_status" } },
      registerClient: { outcome: { code: "unexpected_status" } },
    },
  },
  {
    name: "endless spaces",
    play: endless(chunkedHead(), chunk(" ".repeat(65_536))),
    ...TOO_LARGE,
  },
  {
    name: "endless string",
    play: endless(
      headOf({}) + '{"issuer":"',
      "x".repeat(65_536),
    ),
    ...TOO_LARGE,
  },
  {
    name: "a valid document and endless spaces a byte at a time",
    play: endless(chunkedHead() + chunk('{"a":1}'), chunk(" ").repeat(4_096)),
    ...TOO_LARGE,
    options: () => ({ maxBytes: 2_000 }),
    only: FEW,
  },
  {
    name: "headers for ever",
    play: endless("HTTP/1.1 200 OK\r\n", `X-Long: ${"x".repeat(8_000)}\r\n`),
    ...NO_RESPONSE,
  },
  {
    name: "endless interim responses",
    play: endless("", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(64)),
    ...SILENT,
    attempt: ["timeout", "TypeError"],
  },
  {
    name: "a whole response and a reset after it",
    play: async (stage) => {
      const json = JSON.stringify(documentFor(stage));
      await stage.write(headOf({}, json.length) + json);
      stage.reset();
    },
    // A reset may overtake what was written before it.
    attempt: ["network_error", "TypeError"],
    mayWork: true,
  },
];

/** The cases. */
export const SOCKET_CASES: readonly ICase[] = matrix(FAULTS);
