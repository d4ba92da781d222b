import {
  assert,
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertStrictEquals,
} from "@std/assert";
import { assertSpyCalls, stub } from "@std/testing/mock";
import { OAuthClientError } from "../../../mod.ts";
import { TOKEN_ENDPOINT } from "../../support/fixtures.ts";
import {
  aborted,
  type Answer,
  failing,
  json,
  text,
  untyped,
} from "../../support/stub_fetch.ts";
import {
  AUTHORIZATION,
  done,
  pending,
  poll,
  refusal,
  slowDown,
} from "../../support/poll_device_token.ts";

const lost = failing(new TypeError("Cable cut"));

const WAITS: [name: string, Answer[], interval: unknown, waits: number[]][] = [
  ["5 seconds by default", [pending, done], undefined, [5, 5]],
  ["the interval given", [pending, pending, done], 2, [2, 2, 2]],
  ["a fractional interval", [pending, done], 0.5, [0.5, 0.5]],
  ["5 seconds for an interval of zero", [pending, done], 0, [5, 5]],
  ["5 seconds for one below zero", [slowDown, done], -7, [5, 10]],
  [
    "5 seconds more after slow_down, for good",
    [
      slowDown,
      pending,
      slowDown,
      pending,
      pending,
      done,
    ],
    3,
    [3, 8, 8, 13, 13, 13],
  ],
  [
    "10 seconds after slow_down by default",
    [slowDown, pending, done],
    undefined,
    [
      5,
      10,
      10,
    ],
  ],
  ["twice as long after each lost connection", [lost, lost, lost, done], 5, [
    5,
    10,
    20,
    40,
  ]],
  [
    "the interval again once one gets through",
    [
      lost,
      lost,
      pending,
      lost,
      done,
    ],
    5,
    [5, 10, 20, 5, 10],
  ],
  [
    "as slow_down says after a lost connection",
    [
      slowDown,
      lost,
      slowDown,
      pending,
      done,
    ],
    5,
    [5, 10, 20, 15, 15],
  ],
  [
    "through 500, 502, 503, 504 and 429",
    [
      text("", 500),
      text("<html>", 502),
      text("", 503),
      text("", 504),
      text("", 429),
      done,
    ],
    1,
    [1, 2, 4, 8, 16, 32],
  ],
  [
    "through 503 and 429 with an error",
    [
      refusal("temporarily_unavailable", 503),
      refusal("invalid_request", 500),
      refusal("rate_limited", 429),
      done,
    ],
    1,
    [1, 2, 4, 8],
  ],
];

for (const [name, answers, interval, expected] of WAITS) {
  Deno.test(`pollDeviceToken() waits ${name}`, async () => {
    const { result, waits, left } = await poll(
      answers,
      interval === undefined ? {} : { interval: interval as number },
    );
    assertEquals(result, { access_token: "t", token_type: "Bearer" });
    assertEquals(waits, expected);
    assertEquals(left, []);
  });
}

Deno.test("pollDeviceToken() sends the device code each time", async () => {
  const { requests } = await poll([pending, done], {}, {
    resource: "https://api.example",
    parameters: { x: "1" },
  });
  assertEquals(requests.length, 2);
  for (const { url, body } of requests) {
    assertEquals(url, TOKEN_ENDPOINT);
    assertEquals([...new URLSearchParams(body)], [
      ["grant_type", "urn:ietf:params:oauth:grant-type:device_code"],
      ["device_code", "d1"],
      ["resource", "https://api.example"],
      ["x", "1"],
      ["client_id", "c1"],
    ]);
  }
});

Deno.test("pollDeviceToken() goes on whatever the status of a pending reply", async () => {
  for (const status of [200, 400, 401, 403, 428]) {
    for (const error of ["authorization_pending", "slow_down"]) {
      const { result, waits } = await poll([refusal(error, status), done]);
      assertEquals(result.access_token, "t");
      assertEquals(waits.length, 2);
    }
  }
});

Deno.test("pollDeviceToken() ends on any other refusal", async () => {
  const rows: [Answer, code: string, error?: string][] = [
    [refusal("access_denied"), "oauth_error", "access_denied"],
    [refusal("access_denied", 200), "oauth_error", "access_denied"],
    [refusal("invalid_grant"), "oauth_error", "invalid_grant"],
    [refusal("invalid_client", 401), "oauth_error", "invalid_client"],
    [text("", 400), "unexpected_status"],
    [text("", 404), "unexpected_status"],
    [text("", 302), "unexpected_status"],
    [json({}), "invalid_response"],
  ];
  for (const [answer, code, error] of rows) {
    const { result, waits } = await poll([pending, answer]);
    assertInstanceOf(result, OAuthClientError);
    const { code: shown, error: told }: { code: string; error?: string } =
      result;
    assertEquals([shown, told], [code, error]);
    assertEquals(waits, [5, 5]);
  }
});

Deno.test("pollDeviceToken() tells an expired_token as expired", async () => {
  const { result } = await poll([pending, refusal("expired_token")]);
  assertInstanceOf(result, OAuthClientError);
  assertEquals([result.code, result.error], ["expired", "expired_token"]);
  assertInstanceOf(result.cause, OAuthClientError);
  assertEquals(result.cause.code, "oauth_error");
});

Deno.test("pollDeviceToken() ends by the clock when the codes expire", async () => {
  const rows: [Answer[], expires_at: number, waits: number[]][] = [
    [[], 0, []],
    [[], -5, []],
    [[pending, pending], 10, [5, 5]],
    [[pending, pending], 12, [5, 5, 2]],
    [[slowDown, pending], 15, [5, 10]],
  ];
  for (const [answers, expires_at, expected] of rows) {
    const { result, waits, left } = await poll(answers, { expires_at });
    assertInstanceOf(result, OAuthClientError);
    assertEquals([result.code, result.error], ["expired", undefined]);
    assertEquals(waits, expected);
    assertEquals(left, []);
  }
});

Deno.test("pollDeviceToken() backs off no further than the codes live", async () => {
  const { result, waits } = await poll([lost, lost, lost], { expires_at: 30 });
  assertInstanceOf(result, OAuthClientError);
  assertEquals(result.code, "expired");
  assertEquals(waits, [5, 10, 15]);
});

Deno.test("pollDeviceToken() tells of every poll that found nothing", async () => {
  const { progress } = await poll([pending, slowDown, lost, done]);
  const [first, second, third, ...more] = progress;
  assertEquals(first, { polls: 1, interval: 5, remaining: 595 });
  assertEquals(second, { polls: 2, interval: 10, remaining: 590 });
  assertEquals(more, []);
  const { error, ...rest } = third!;
  assertEquals(rest, { polls: 3, interval: 20, remaining: 580 });
  assertInstanceOf(error, OAuthClientError);
  assertEquals(error.code, "network_error");
});

Deno.test("pollDeviceToken() tells of no time left as zero", async () => {
  const { progress } = await poll([pending], { expires_at: 5.5 });
  assertEquals(progress, [{ polls: 1, interval: 5, remaining: 0 }]);
});

Deno.test("pollDeviceToken() ends with what onPending throws", async () => {
  const failure = new Error("Window closed");
  const { result, waits } = await poll([pending], {}, {
    onPending: () => {
      throw failure;
    },
  });
  assertStrictEquals(result, failure);
  assertEquals(waits, [5]);
});

Deno.test("pollDeviceToken() ends with the reason of an abort during the delay", async () => {
  const reason = { why: "enough" };
  const controller = new AbortController();
  let given: AbortSignal | undefined;
  const { result, requests } = await poll([], {}, {
    signal: controller.signal,
    delay(_, signal) {
      given = signal;
      controller.abort(reason);
      return Promise.resolve();
    },
  });
  assertStrictEquals(result, reason);
  assertStrictEquals(given, controller.signal);
  assertEquals(requests, []);
});

Deno.test("pollDeviceToken() ends with the reason of an abort during a poll", async () => {
  const { answer, signal, reason } = aborted();
  const { result, waits } = await poll([pending, answer], {}, { signal });
  assertStrictEquals(result, reason);
  assertEquals(waits, [5, 5]);
});

Deno.test("pollDeviceToken() waits by a timer that an abort clears", async () => {
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
  const { result, requests } = await poll([], { interval: 7 }, {
    signal: controller.signal,
    delay: undefined,
  });
  assertStrictEquals(result, reason);
  assertSpyCalls(timers, 1);
  assertEquals(timers.calls[0]?.args[1], 7_000);
  assertEquals(cleared, [17]);
  assertEquals(requests, []);
});

Deno.test("pollDeviceToken() starts no timer for a signal that is aborted", async () => {
  using timers = stub(globalThis, "setTimeout", () => untyped(17));
  const { result } = await poll([], {}, {
    signal: AbortSignal.abort("enough"),
    delay: undefined,
  });
  assertEquals(result, "enough");
  assertSpyCalls(timers, 0);
});

Deno.test("pollDeviceToken() leaves no listener on the signal", async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  using _timers = stub(globalThis, "setTimeout", (run) => {
    queueMicrotask(untyped(run));
    return untyped(17);
  });
  using _clear = stub(globalThis, "clearTimeout", () => {});
  using _add = stub(signal, "addEventListener", (_type, _listener, options) => {
    listeners++;
    const { signal: end } = (options ?? {}) as AddEventListenerOptions;
    assertFalse(end?.aborted ?? false);
    end?.addEventListener("abort", () => listeners--);
  });
  using _remove = stub(signal, "removeEventListener", () => {
    listeners--;
  });
  const { result } = await poll([pending, done], {}, {
    signal,
    delay: undefined,
    timeoutMs: Infinity,
  });
  assertEquals(result.access_token, "t");
  assertEquals(listeners, 0);
});

Deno.test("pollDeviceToken() fails before any request without a device code or its end", async () => {
  const rows: [name: string, ...wrong: unknown[]][] = [
    ["device_code", "", undefined, 7],
    ["expires_at", undefined, null, NaN, Infinity, "600"],
  ];
  for (const [name, ...values] of rows) {
    for (const value of values) {
      const wrong = { ...AUTHORIZATION, [name]: value };
      const { result, waits, requests } = await poll([], wrong);
      assertInstanceOf(result, OAuthClientError);
      assertEquals(result.code, "invalid_argument");
      assert(result.message.includes(`${name} must be `), result.message);
      assertEquals([waits, requests], [[], []]);
    }
  }
});
