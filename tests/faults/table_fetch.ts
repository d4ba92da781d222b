/** Faults on this side: rubbish for a fetch, odd options, many at once. */

import { type ICase, type IWorld, OPERATIONS } from "./case.ts";
import { type IFault, matrix } from "./matrix.ts";
import { IS_GOOD } from "./operations.ts";
import { bytes, good, thenReset, thenSilence } from "./plays.ts";

const HAS_BODY = { status: 200, statusText: "OK" };
const CODE = { attempt: "network_error" } as const;

/** What a caller's fetch may answer with that is no reply. */
const RUBBISH: [name: string, value: unknown][] = [
  ["undefined", undefined],
  ["null", null],
  ["a number", 42],
  ["a text", "Hello"],
  ["an empty object", {}],
  ["an array", []],
  ["a function", () => {}],
];

function settleLate(
  settle: (
    resolve: (value: unknown) => void,
    reject: (r: unknown) => void,
  ) => void,
) {
  return ({ afterwards }: IWorld) => ({
    timeoutMs: 50,
    fetch: () =>
      new Promise((resolve, reject) =>
        afterwards(() => settle(resolve, reject))
      ),
  });
}

const FETCHES: IFault[] = [
  ...[new TypeError("No way"), new Error("No", { cause: "why" })].map(
    (failure): IFault => ({
      name: `fetch throws ${failure}`,
      options: () => ({ fetch: () => Promise.reject(failure) }),
      attempt: failure.name,
      request: "network_error",
      unheard: true,
    }),
  ),
  ...["a text", undefined, null, 0, { a: 1 }].map((failure): IFault => ({
    name: `fetch throws ${JSON.stringify(failure)}, no Error`,
    options: () => ({ fetch: () => Promise.reject(failure) }),
    ...CODE,
    unheard: true,
  })),
  {
    name: "fetch throws at once",
    options: () => ({
      fetch() {
        throw new TypeError("At once");
      },
    }),
    attempt: "TypeError",
    unheard: true,
  },
  ...RUBBISH.map(([name, value]): IFault => ({
    name: `fetch returns ${name}`,
    options: () => ({ fetch: () => Promise.resolve(value) }),
    ...CODE,
    unheard: true,
  })),
  {
    name: "fetch returns a response whose json() and text() reject",
    options: () => ({
      fetch: () =>
        Promise.resolve({
          ...HAS_BODY,
          json: () => Promise.reject(new Error("No JSON")),
          text: () => Promise.reject(undefined),
        }),
    }),
    ...CODE,
    status: 200,
    unheard: true,
  },
  {
    name: "fetch returns a body of texts",
    options: () => ({
      fetch: () =>
        Promise.resolve({
          ...HAS_BODY,
          body: new ReadableStream({
            start(controller) {
              controller.enqueue("{}");
              controller.close();
            },
          }),
        }),
    }),
    attempt: ["network_error", "invalid_metadata"],
    request: ["network_error", "invalid_response"],
    unheard: true,
    except: {
      discoverAuthorization: {
        outcome: {
          code: "discovery_failed",
          orResult: ({ source }) => source === "fallback",
        },
      },
      pollDeviceToken: {
        outcome: { code: ["expired", "invalid_response"] },
      },
    },
  },
  {
    name: "fetch never settles",
    options: () => ({ timeoutMs: 50, fetch: () => new Promise(() => {}) }),
    attempt: "timeout",
    unheard: true,
  },
  {
    name: "fetch fails after the time-out",
    options: settleLate((_, reject) => reject(new Error("Late"))),
    attempt: "timeout",
    unheard: true,
  },
  {
    name: "fetch answers after the time-out",
    options: settleLate((resolve) => resolve(Response.json({}))),
    attempt: "timeout",
    unheard: true,
  },
  {
    name: "fetch returns rubbish after the time-out",
    options: settleLate((resolve) => resolve(null)),
    attempt: "timeout",
    unheard: true,
  },
  {
    name: "allowUrl never settles",
    options: () => ({ timeoutMs: 50, allowUrl: () => new Promise(() => {}) }),
    attempt: "timeout",
    unheard: true,
  },
  ...[false, undefined, 1, "true"].map((answer): IFault => ({
    name: `allowUrl says ${JSON.stringify(answer)}`,
    options: () => ({ allowUrl: () => answer }),
    attempt: "url_refused",
    unheard: true,
  })),
  {
    name: "allowUrl throws",
    options: () => ({
      allowUrl() {
        throw new Error("Who knows");
      },
    }),
    attempt: "url_refused",
    unheard: true,
  },
  {
    name: "fetch follows a redirect to another origin by itself",
    options: () => ({
      fetch: () => {
        const response = Response.json({});
        Object.defineProperty(response, "url", {
          value: "https://evil.example/",
        });
        return Promise.resolve(response);
      },
    }),
    attempt: "redirect_refused",
    unheard: true,
  },
  {
    name: "a browser's opaque redirect",
    options: () => ({
      fetch: () =>
        Promise.resolve({
          status: 0,
          statusText: "",
          ok: false,
          type: "opaqueredirect",
          body: null,
          text: () => Promise.resolve(""),
        }),
    }),
    attempt: "redirect_refused",
    status: 0,
    unheard: true,
  },
  {
    name: "frozen options",
    options: () => Object.freeze({ timeoutMs: 4_000, maxBytes: 10_000 }),
  },
  {
    name: "no time limit and no size limit",
    options: () => ({ timeoutMs: Infinity, maxBytes: Infinity }),
  },
  {
    name: "options that are undefined one by one",
    options: () => ({
      fetch: undefined,
      signal: undefined,
      timeoutMs: undefined,
      maxBytes: undefined,
      allowUrl: undefined,
    }),
  },
];

const NO_PROTOTYPE: ICase[] = OPERATIONS.filter((operation) =>
  operation !== "fetchDeviceAuthorization"
).map((operation) => ({
  operation,
  fault: "options without a prototype",
  options: () => ({
    bare: Object.freeze(
      Object.assign(
        Object.create(null),
        // Polling by the real clock takes its first wait for granted.
        operation === "pollDeviceToken" && {
          delay: () => Promise.resolve(),
          now: () => 0,
        },
      ),
    ),
  }),
  outcome: { result: IS_GOOD[operation] },
  requests: operation === "discoverAuthorization" ? 2 : 1,
}));

/** A hundred calls at once, each with the fate of one. */
const AT_ONCE: ICase[] = [
  ...OPERATIONS.map((operation): ICase => ({
    operation,
    fault: "100 calls at once",
    play: good,
    times: 100,
    outcome: { result: IS_GOOD[operation] },
    requests: operation === "discoverAuthorization" ? 200 : 100,
  })),
  ...([
    "fetchAuthorizationServerMetadata",
    "discoverAuthorization",
    "fetchToken",
  ] as const).map((operation): ICase => ({
    operation,
    fault: "100 calls at once to a silent server",
    play: thenSilence(),
    times: 100,
    options: () => ({ timeoutMs: 400 }),
    outcome: { code: "timeout" },
    requests: Array.from({ length: 101 }, (_, count) => count),
  })),
];

const MIXED: ICase[] = (["fetchToken", "registerClient"] as const).map(
  (operation) => ({
    operation,
    fault: "100 calls at once, every other one broken off",
    play: (stage) =>
      stage.count % 2
        ? good(stage)
        : (stage.count % 4 ? thenReset("") : bytes(""))(stage),
    times: 100,
    outcome: {
      code: "network_error",
      orResult: IS_GOOD[operation],
    },
    requests: 100,
  }),
);

/** The cases. */
export const FETCH_CASES: readonly ICase[] = [
  ...matrix(FETCHES),
  ...NO_PROTOTYPE,
  ...AT_ONCE,
  ...MIXED,
];
