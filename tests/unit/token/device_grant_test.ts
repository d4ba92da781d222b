/**
 * A poll for a device code waits as the server says, and ends before the codes expire.
 */

import {
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertStrictEquals,
} from "@std/assert";
import { assertSpyCalls, stub } from "@std/testing/mock";
import { clientAssertion, OAuthClientError } from "../../../mod.ts";
import { assertInvalidArgument } from "../../support/fixtures.ts";
import {
  aborted,
  type Answer,
  failing,
  json,
  minimal,
  never,
  redirect,
  text,
  untyped,
} from "../../support/stub_fetch.ts";
import {
  done,
  pending,
  poll,
  refusal,
  slowDown,
} from "../../support/poll_device_token.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

const lost = failing(new TypeError("Cable cut"));
const unreadable = () => minimal({});

/** As at GitHub. */
function slowDownTo(interval: unknown): Answer {
  return json({ error: "slow_down", interval }, { status: 400 });
}

type Wait = [name: string, Answer[], interval: unknown, waits: number[]];
const temporary = [500, 502, 503, 504, 429].map((status) => text("", status));
const WAITS: Wait[] = [
  ["the interval of the server", [pending, pending, done], 2, [2, 2, 2]],
  ["a fractional interval", [pending, done], 0.5, [0.5, 0.5]],
  ["at least a tenth of a second", [pending, done], 1e-9, [0.1, 0.1]],
  ...[undefined, 0, -7, "3", NaN].map((interval): Wait => [
    `5 seconds for an interval of ${interval}`,
    [pending, slowDown, done],
    interval,
    [5, 5, 10],
  ]),
  [
    "5 seconds more after each slow_down, for good",
    [slowDown, pending, slowDown, pending, pending, done],
    3,
    [3, 8, 8, 13, 13, 13],
  ],
  [
    "the interval that slow_down returns, unless 5 seconds more is longer",
    [
      slowDownTo(22),
      slowDownTo("40"),
      slowDownTo(1),
      slowDownTo("soon"),
      slowDownTo(null),
      done,
    ],
    5,
    [5, 22, 40, 45, 50, 55],
  ],
  [
    "twice as long after each lost connection, at most 60 seconds",
    [lost, lost, unreadable, lost, lost, done],
    5,
    [5, 10, 20, 40, 60, 60],
  ],
  [
    "an interval of more than 60 seconds",
    [lost, pending, done],
    90,
    [90, 90, 90],
  ],
  [
    "the interval again after a successful poll",
    [lost, lost, pending, lost, done],
    5,
    [5, 10, 20, 5, 10],
  ],
  [
    "as slow_down requires after a lost connection",
    [slowDown, lost, slowDown, pending, done],
    5,
    [5, 10, 20, 15, 15],
  ],
  [
    "twice as long after 500, 502, 503, 504 and 429",
    [...temporary, done],
    1,
    [1, 2, 4, 8, 16, 32],
  ],
  [
    "twice as long after 503 and 429 with an error about the server",
    [
      refusal("temporarily_unavailable", 503),
      refusal("invalid_grant", 500),
      refusal("rate_limited", 429),
      done,
    ],
    1,
    [1, 2, 4, 8],
  ],
];

/** A refusal that names the seconds to wait. */
const putOff = (error: string, status: number, seconds: number) =>
  json({ error }, { status, headers: { "Retry-After": `${seconds}` } });

WAITS.push(
  [
    "as long as the Retry-After of a 429 or 503 requires",
    [
      putOff("rate_limited", 429, 90),
      putOff("slow_down", 429, 20),
      putOff("authorization_pending", 503, 3),
      putOff("server_error", 500, 90),
      done,
    ],
    5,
    [5, 90, 20, 10, 20],
  ],
);

// RFC 9110, section 10.2.3: of any status. AUTHORIZATION expires after 600 seconds.
for (const status of [200, 400, 401, 428]) {
  WAITS.push(
    [
      `once as long as the Retry-After of a pending poll with ${status} requires`,
      [
        putOff("authorization_pending", status, 20),
        putOff("authorization_pending", status, 3),
        putOff("slow_down", status, 20),
        putOff("slow_down", status, 7),
        pending,
        done,
      ],
      5,
      [5, 20, 5, 20, 15, 15],
    ],
    [
      `until the last poll before the expiry, for a longer Retry-After with ${status}`,
      [putOff("authorization_pending", status, 86_400), pending, done],
      1,
      [1, 597, 1],
    ],
  );
}

for (const [name, answers, interval, expected] of WAITS) {
  Deno.test(`pollDeviceToken() waits ${name}`, async () => {
    const authorization = interval === undefined ? {} : { interval };
    const { result, waits, left } = await poll(answers, authorization);
    assertEquals(result, { access_token: "t", token_type: "Bearer" });
    assertEquals([waits, left], [expected, []]);
  });
}

Deno.test("pollDeviceToken() continues while the user has not finished, at any status", async () => {
  const waiting = { authorization_pending: 7, slow_down: 12 };
  for (const status of [200, 401, 403, 428, 429, 503]) {
    for (const [error, wait] of Object.entries(waiting)) {
      const answers = [refusal(error, status), done];
      const { result, waits, progress } = await poll(answers, { interval: 7 });
      assertEquals(result.access_token, "t");
      assertEquals(waits, [7, wait]);
      assertFalse(progress.some((one) => "error" in one));
    }
  }
});

Deno.test("pollDeviceToken() ends on any other error", async () => {
  type Row = [Answer, code: string, error?: string];
  const refused = (error: string, ...statuses: number[]) =>
    statuses.map((status): Row => [
      refusal(error, status),
      error === "expired_token" ? "expired" : "oauth_error",
      error,
    ]);
  const rows: Row[] = [
    // Those of RFC 8628 count at any status.
    ...refused("access_denied", 200, 400, 429, 503),
    ...refused("expired_token", 400, 429, 503),
    ...refused("invalid_grant", 200, 400, 401),
    ...refused("invalid_client", 401),
    [refusal("x\u0007"), "oauth_error"],
    [text("", 400), "unexpected_status"],
    [text("", 404), "unexpected_status"],
    [redirect("/x"), "redirect_refused"],
    [json({}), "invalid_response"],
    [text("<html>", 200), "invalid_response"],
  ];
  await eachRowInTurn(rows, async ([answer, code, error]) => {
    const { result, waits } = await poll([pending, answer]);
    assertInstanceOf(result, OAuthClientError);
    assertEquals([String(result.code), result.error], [code, error]);
    assertEquals(waits, [5, 5]);
    if (code === "expired") assertInstanceOf(result.cause, OAuthClientError);
  });
});

Deno.test("pollDeviceToken() ends by the clock before the codes expire", async () => {
  const rows: [Answer[], expires_at: number, waits: number[]][] = [
    [[], 0, []],
    [[], -5, []],
    [[], 5, []],
    [[pending], 10, [5]],
    [[pending, pending], 12, [5, 5]],
    [[slowDown], 15, [5]],
    // The last poll is made before the expiry, whatever the wait would be.
    [[lost, lost, lost], 30, [5, 10, 13]],
  ];
  await eachRowInTurn(rows, async ([answers, expires_at, expected]) => {
    const { result, waits, left } = await poll(answers, { expires_at });
    assertInstanceOf(result, OAuthClientError);
    assertEquals([result.code, result.error], ["expired", undefined]);
    assertEquals([waits, left], [expected, []]);
  });
});

Deno.test("pollDeviceToken() ends with a refusal whose Retry-After is later than the expiry", async () => {
  const rows: [seconds: number, expires_at: number, code: string][] = [
    [54, 60, "expired"],
    [55, 60, "oauth_error"],
    [86_400, 3_609, "expired"],
  ];
  await eachRowInTurn(rows, async ([seconds, expires_at, code]) => {
    const answers = [putOff("rate_limited", 429, seconds), pending];
    const { result } = await poll(answers, { expires_at, interval: 5 });
    assertInstanceOf(result, OAuthClientError);
    assertEquals(`${result.code}`, code);
  });
});

Deno.test("pollDeviceToken() continues after a timeout", async () => {
  const answers = [() => never<Response>(), done];
  const { result, waits, progress } = await poll(answers, {}, { timeoutMs: 1 });
  assertEquals([result.access_token, waits], ["t", [5, 10]]);
  assertEquals(progress.map(({ error }) => error?.code), ["timeout"]);
});

Deno.test("pollDeviceToken() sends the device code each time", async () => {
  const { requests } = await poll([pending, done], {}, {
    resource: "https://api.example",
    scopes: ["read"],
    parameters: { x: "1" },
  });
  const form = "grant_type=urn:ietf:params:oauth:grant-type:device_code" +
    "&device_code=d1&resource=https://api.example&scope=read&x=1&client_id=c1";
  const bodies = requests.map(({ body }) => decodeURIComponent(body!));
  assertEquals(bodies, [form, form]);
});

Deno.test("pollDeviceToken() calls onPending after every poll without a token", async () => {
  const first = { polls: 1, intervalSeconds: 5, remainingSeconds: 595 };
  const { progress } = await poll([pending, slowDown, lost, done]);
  const errors = progress.map(({ error }) => error?.code);
  assertEquals(errors, [undefined, undefined, "network_error"]);
  assertEquals(progress.map(({ error: _, ...rest }) => rest), [
    first,
    { polls: 2, intervalSeconds: 10, remainingSeconds: 590 },
    { polls: 3, intervalSeconds: 20, remainingSeconds: 580 },
  ]);
  const last = await poll([pending], { expires_at: 5.5 });
  assertEquals(last.progress, [{ ...first, remainingSeconds: 0 }]);
});

Deno.test("pollDeviceToken() ends with what onPending throws", async () => {
  const failure = new Error("Window closed");
  const onPending = () => {
    throw failure;
  };
  const { result, waits } = await poll([pending], {}, { onPending });
  assertStrictEquals(result, failure);
  assertEquals(waits, [5]);
});

Deno.test("pollDeviceToken() ends with what the client authentication throws", async () => {
  const failure = new Error("Key store is locked");
  const client = clientAssertion("c1", () => Promise.reject(failure));
  const { result, waits, progress } = await poll([], {}, { client });
  assertStrictEquals(result, failure);
  assertEquals([waits, progress], [[5], []]);
});

Deno.test("pollDeviceToken() ends with the reason of an abort", async () => {
  const during = aborted();
  const signal = during.signal;
  const polled = await poll([pending, during.answer], {}, { signal });
  assertStrictEquals(polled.result, during.reason);
  assertEquals(polled.waits, [5, 5]);
  // A reason that looks like a lost connection.
  const controller = new AbortController();
  const reason = new OAuthClientError("network_error", "Enough");
  const abort: Answer = () => {
    controller.abort(reason);
    return Promise.reject(reason);
  };
  const ended = await poll([abort], {}, { signal: controller.signal });
  assertStrictEquals(ended.result, reason);
  assertEquals(ended.progress, []);
  // A delay of the caller is not waited for.
  const delayed = aborted();
  let given: AbortSignal | undefined;
  const { result, requests } = await poll([], {}, {
    signal: delayed.signal,
    delay(_, signal) {
      given = signal;
      return delayed.answer();
    },
  });
  assertStrictEquals(result, delayed.reason);
  assertStrictEquals(given, delayed.signal);
  assertEquals(requests, []);
});

Deno.test("pollDeviceToken() waits with a timer that an abort clears", async () => {
  const reason = { why: "enough" };
  const controller = new AbortController();
  const cleared: unknown[] = [];
  using timers = stub(globalThis, "setTimeout", () => {
    queueMicrotask(() => controller.abort(reason));
    return untyped(17);
  });
  using _clear = stub(globalThis, "clearTimeout", (id) => {
    cleared.push(id);
  });
  const options = { signal: controller.signal, delay: undefined };
  const { result, requests } = await poll([], { interval: 7 }, options);
  assertStrictEquals(result, reason);
  assertEquals(timers.calls[0]?.args[1], 7_000);
  assertEquals([cleared, requests], [[17], []]);
  // A signal that is aborted already starts no timer.
  await poll([], {}, options);
  assertSpyCalls(timers, 1);
});

Deno.test("pollDeviceToken() rejects invalid arguments before any delay", async () => {
  const rejects = async (name: string, members: Record<string, unknown>) => {
    const { result, waits } = await poll([], members);
    await assertInvalidArgument(() => Promise.reject(result), name);
    assertEquals(waits, []);
  };
  for (const device_code of ["", undefined, 7]) {
    await rejects("device_code", { device_code });
  }
  for (const expires_at of [undefined, null, Infinity, "600"]) {
    await rejects("authorization.expires_at", { expires_at });
  }
});
