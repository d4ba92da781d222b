/** Faults of HTTP itself: statuses, header fields, interim responses. */

import { type Case, GETS, POSTS } from "./case.ts";
import type { Play } from "./fault_server.ts";
import { type Fault, matrix } from "./matrix.ts";
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
const OTHER_2XX: Fault[] = [201, 202, 206, 299].flatMap((status) => {
  const name = `status ${status} with a valid document`;
  const play = respond({ status: `${status} Hm` });
  return [{ name, play, ...refusal(status), only: GETS }, {
    name,
    play,
    only: POSTS,
  }];
});

const REFUSALS: Fault[] = [300, 304, 400, 401, 403, 404, 405, 410, 418, 500]
  .map((status) => ({
    name: `status ${status}`,
    play: bytes(
      status === 304
        ? headOf({ status: "304 Not Modified" })
        : headOf({ status: `${status} No` }, 2) + "No",
    ),
    ...refusal(status, { status, retryAfterSeconds: undefined }),
  }));

function later(status: number, value: string): Play {
  const headers = { "Retry-After": value };
  return respond({ status: `${status} Later`, headers, body: "Later" });
}

/** The device code expires before the time that the server names. */
const POLLED_ONCE = {
  pollDeviceToken: { outcome: { code: "unexpected_status" }, requests: 1 },
} as const;

const RETRIES: Fault[] = [429, 503].flatMap((status) => [
  {
    name: `status ${status}, Retry-After is seconds`,
    play: later(status, "120"),
    ...refusal(status, { status, retryAfterSeconds: 120 }),
    except: POLLED_ONCE,
  },
  {
    name: `status ${status}, Retry-After is a date to come`,
    play: later(status, new Date(Date.now() + 3_600_000).toUTCString()),
    ...refusal(status),
    except: POLLED_ONCE,
  },
]);

const contentType = (type: string | null) => ({ "Content-Type": type });

/** Sends a response, and before it an interim one with this status and fields. */
function interim(first: string): Play {
  return bytes((stage) => {
    const json = JSON.stringify(documentFor(stage));
    return `HTTP/1.1 ${first}\r\n\r\n${headOf({}, json.length)}${json}`;
  });
}

/** A status that some runtimes refuse and others return. */
const ODD_STATUS = {
  attempt: ["TypeError", "unexpected_status"],
  request: ["network_error", "unexpected_status"],
} as const;

const FAULTS: Fault[] = [
  ...OTHER_2XX,
  ...REFUSALS,
  ...RETRIES,
  {
    name: "status 204",
    play: bytes("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"),
    attempt: "unexpected_status",
    request: "invalid_response",
    status: 204,
  },
  {
    name: "status 200 with HTML",
    play: respond({ headers: contentType("text/html"), body: HTML }),
    ...NOT_JSON,
  },
  {
    name: "status 200 without a body",
    play: respond({ body: "" }),
    ...NOT_JSON,
  },
  ...[null, "text/html", 'application/json; charset="utf-16"'].map((
    type,
  ): Fault => ({
    name: `content type ${type} with a valid document`,
    play: respond({ headers: contentType(type) }),
  })),
  {
    name: "status 100 first",
    play: interim("100 Continue"),
    // undici fails on a 100 that was not requested.
    attempt: "TypeError",
    mayWork: true,
  },
  {
    name: "status 103 first",
    play: interim("103 Early Hints\r\nLink: </x>; rel=preload"),
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
    ...ODD_STATUS,
  },
  {
    name: "status 999",
    play: bytes("HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\n{}"),
    ...ODD_STATUS,
    request: [...ODD_STATUS.request, "expired"],
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
    ...ODD_STATUS,
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

export const RESPONSE_CASES: readonly Case[] = matrix(FAULTS);
