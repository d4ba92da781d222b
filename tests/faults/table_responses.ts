/** Faults of HTTP itself: statuses, header fields, interim responses. */

import type { ICase } from "./case.ts";
import { type IFault, matrix } from "./matrix.ts";
import {
  bytes,
  chunk,
  chunkedHead,
  documentFor,
  headOf,
  respond,
  SECRET,
  thenSilence,
} from "./plays.ts";

const NOT_JSON = { attempt: "invalid_metadata", status: 200 } as const;
const HTML = "<!doctype html><title>Log in</title>";

function refusal(status: number, members?: Record<string, unknown>) {
  return { attempt: "unexpected_status", status, ...(members && { members }) };
}

/** A discovery accepts status 200 only, other functions accept any 2xx. */
function twoHundred(status: number): IFault {
  const attempt = "unexpected_status";
  const only = [
    "fetchResourceMetadata",
    "fetchAuthorizationServerMetadata",
    "discoverAuthorization",
  ] as const;
  return {
    name: `status ${status} with a valid document`,
    play: respond({ status: `${status} Hm` }),
    attempt,
    status,
    only,
  };
}

const OTHER_2XX: IFault[] = [201, 202, 206, 299].flatMap((status) => [
  twoHundred(status),
  {
    name: `status ${status} with a valid document`,
    play: respond({ status: `${status} Hm` }),
    only: [
      "fetchDynamicRegistration",
      "registerClient",
      "fetchToken",
      "fetchDeviceAuthorization",
      "pollDeviceToken",
      "fetchIdJag",
      "redeemIdJag",
    ],
  },
]);

const REFUSALS: IFault[] = [300, 304, 400, 401, 403, 404, 405, 410, 418, 500]
  .map((status) => ({
    name: `status ${status}`,
    play: bytes(
      status === 304
        ? headOf({ status: "304 Not Modified" })
        : headOf({ status: `${status} No` }, 2) + "No",
    ),
    ...refusal(status, { status, retryAfter: undefined }),
  }));

const LATER = new Date(Date.now() + 3_600_000).toUTCString();
const EARLIER = "Wed, 21 Oct 2015 07:28:00 GMT";

/** Forms of Retry-After (RFC 9110, section 10.2.3) and the seconds that errors have. */
const RETRY_AFTER: [name: string, value: string, told: number | undefined][] = [
  ["seconds", "120", 120],
  ["no seconds", "0", 0],
  ["a date of the past", EARLIER, 0],
  ["an asctime date", "Wed Oct 21 07:28:00 2015", 0],
  ["a word", "soon", undefined],
  ["an empty value", "", undefined],
  ["a fraction", "1.5", undefined],
  ["a negative number", "-5", undefined],
  ["words with a number", "in about 5", undefined],
  ["a number with a sign", "+5", undefined],
  ["more digits than a number holds", "9".repeat(400), undefined],
];

function retryAfter(
  status: number,
  [name, value, told]: typeof RETRY_AFTER[number],
): IFault {
  return {
    name: `status ${status}, Retry-After is ${name}`,
    play: respond({
      status: `${status} Later`,
      headers: { "Retry-After": value },
      body: "Later",
    }),
    ...refusal(status, { status, retryAfter: told }),
    only: ["fetchResourceMetadata", "registerClient", "fetchToken"],
  };
}

const RETRIES: IFault[] = [429, 503].flatMap((status) => [
  ...RETRY_AFTER.map((form) => retryAfter(status, form)),
  {
    name: `status ${status}, Retry-After is a date to come`,
    play: respond({
      status: `${status} Later`,
      headers: { "Retry-After": LATER },
      body: "Later",
    }),
    ...refusal(status),
  },
]);

const FAULTS: IFault[] = [
  ...OTHER_2XX,
  ...REFUSALS,
  ...RETRIES,
  {
    name: "status 429 and nothing else",
    play: respond({ status: "429 Slow", body: "" }),
    ...refusal(429),
  },
  {
    name: "status 204",
    play: bytes("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"),
    attempt: "unexpected_status",
    request: "invalid_response",
    status: 204,
  },
  {
    name: "status 200 with HTML",
    play: respond({ headers: { "Content-Type": "text/html" }, body: HTML }),
    ...NOT_JSON,
  },
  {
    name: "status 200 with HTML that says it is JSON",
    play: respond({ body: HTML }),
    ...NOT_JSON,
  },
  {
    name: "status 200 without a body",
    play: respond({ body: "" }),
    ...NOT_JSON,
  },
  {
    name: "status 200 without a content type",
    play: respond({ headers: { "Content-Type": null } }),
  },
  {
    name: "content type text/html with a valid document",
    play: respond({ headers: { "Content-Type": "text/html" } }),
  },
  {
    name: "content type with a charset",
    play: respond({
      headers: { "Content-Type": "application/json; charset=utf-8" },
    }),
  },
  {
    name: "content type with a charset that is not true",
    play: respond({
      headers: { "Content-Type": 'application/json; charset="utf-16"' },
    }),
  },
  {
    name: "content type that is none",
    play: respond({ headers: { "Content-Type": ";;==,\t," } }),
  },
  {
    name: "status 100 first",
    play: bytes((stage) => interim("100 Continue", documentFor(stage))),
    // undici fails on a 100 that was not requested.
    attempt: "TypeError",
    mayWork: true,
  },
  {
    name: "status 103 first",
    play: bytes((stage) =>
      interim(
        "103 Early Hints\r\nLink: </x>; rel=preload",
        documentFor(stage),
      )
    ),
  },
  {
    name: "status 101, an upgrade that was not requested",
    play: thenSilence(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n" +
        "Connection: upgrade\r\n\r\n",
    ),
    // Deno returns the response, Node fails.
    attempt: ["TypeError", "unexpected_status", "timeout"],
    request: ["network_error", "unexpected_status"],
    timeoutMs: 150,
    except: {
      discoverAuthorization: {
        outcome: { code: ["discovery_failed", "timeout"] },
      },
      pollDeviceToken: {
        outcome: { code: ["expired", "unexpected_status"] },
        requests: [1, 2],
      },
    },
  },
  {
    name: "a chunked body with extensions and trailers",
    play: bytes((stage) => {
      const json = JSON.stringify(documentFor(stage));
      const part = chunk(json).replace("\r\n", ";name=value\r\n");
      return `${chunkedHead()}${part}0\r\nX-Trailer: x\r\n\r\n`;
    }),
  },
  {
    name: "a response of HTTP/1.0 without a length",
    play: bytes((stage) =>
      `HTTP/1.0 200 OK\r\n\r\n${JSON.stringify(documentFor(stage))}`
    ),
  },
  {
    name: "a second response after the first",
    play: bytes((stage) => {
      const json = JSON.stringify(documentFor(stage));
      return headOf({}, json.length) + json + headOf({}, 2) + "{}";
    }),
    // A response without a request may undo the one before it.
    attempt: ["network_error", "TypeError"],
    mayWork: true,
  },
  {
    name: "a status that is no number",
    play: bytes("HTTP/1.1 abc OK\r\nContent-Length: 2\r\n\r\n{}"),
    attempt: "TypeError",
  },
  {
    name: "status 99",
    play: bytes("HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\n{}"),
    attempt: ["TypeError", "unexpected_status"],
    request: ["network_error", "unexpected_status"],
  },
  {
    name: "status 999",
    play: bytes("HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\n{}"),
    attempt: ["TypeError", "unexpected_status"],
    request: ["network_error", "unexpected_status", "expired"],
  },
  {
    name: "a header of 1 MB",
    play: bytes(
      headOf({ headers: { "X-Long": "x".repeat(1_000_000) } }, 2) + "{}",
    ),
    attempt: "TypeError",
  },
  {
    name: "control characters and a secret in the reason phrase",
    play: bytes(`HTTP/1.1 500 Oh \x1b[31m${"x".repeat(3000)}\r\n\r\n`),
    attempt: ["TypeError", "unexpected_status"],
    request: ["network_error", "unexpected_status"],
    status: 500,
    forbidden: ["\x1b"],
  },
  {
    name: "a session's cookie and a challenge with a secret",
    play: respond({
      status: "401 No",
      headers: {
        "Set-Cookie": `id=${SECRET}-cookie`,
        "WWW-Authenticate": `Bearer token="${SECRET}-challenge"`,
      },
      body: "No",
    }),
    ...refusal(401),
  },
];

function interim(first: string, document: unknown): string {
  const json = JSON.stringify(document);
  return `HTTP/1.1 ${first}\r\n\r\n${headOf({}, json.length)}${json}`;
}

/** The cases. */
export const RESPONSE_CASES: readonly ICase[] = matrix(FAULTS);
