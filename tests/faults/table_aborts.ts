/** Aborts: before, during the headers, during the body, between attempts. */

import { type ICase, OPERATIONS } from "./case.ts";
import { good, headOf, respond, thenSilence } from "./plays.ts";

const REASONS = [new Error("Enough"), "enough", 0, null];
const GETS = [
  "fetchResourceMetadata",
  "fetchAuthorizationServerMetadata",
  "discoverAuthorization",
] as const;

type Fetch = typeof fetch;

/** Cases that end with the reason of the caller's signal, for every operation. */
function aborted(
  fault: string,
  parts: Pick<ICase, "play" | "options"> & { requests: number },
): ICase[] {
  return OPERATIONS.map((operation) => ({
    operation,
    fault,
    outcome: { reason: true },
    ...parts,
  }));
}

/** The cases. */
export const ABORT_CASES: readonly ICase[] = [
  ...REASONS.flatMap((reason) =>
    aborted(`aborted before, by ${reason}`, {
      options({ controller }) {
        controller.abort(reason);
        return {};
      },
      requests: 0,
    })
  ),
  ...aborted("aborted by allowUrl", {
    options: ({ controller }) => ({
      allowUrl() {
        controller.abort("enough");
        return true;
      },
    }),
    requests: 0,
  }),
  ...aborted("aborted during the headers", {
    play: thenSilence("HTTP/1.1 200 OK\r\n"),
    options: ({ controller }) => ({
      fetch(...request: Parameters<Fetch>) {
        const response = fetch(...request);
        setTimeout(() => controller.abort("enough"), 50);
        return response;
      },
    }),
    requests: 1,
  }),
  ...aborted("aborted during the body", {
    play: thenSilence(headOf({}, 100) + "{"),
    options: ({ controller }) => ({
      async fetch(...request: Parameters<Fetch>) {
        const response = await fetch(...request);
        queueMicrotask(() => controller.abort("enough"));
        return response;
      },
    }),
    requests: 1,
  }),
  ...aborted("aborted while fetch never settles", {
    options: ({ controller }) => ({
      fetch() {
        queueMicrotask(() => controller.abort("enough"));
        return new Promise(() => {});
      },
    }),
    requests: 0,
  }),
  ...GETS.map((operation): ICase => ({
    operation,
    fault: "aborted between two attempts",
    play: respond({ status: "404 No", body: "" }),
    options: ({ controller }) => {
      let asked = 0;
      return {
        allowUrl() {
          if (++asked === 2) controller.abort("enough");
          return true;
        },
      };
    },
    outcome: { reason: true },
    requests: 1,
  })),
  {
    operation: "pollDeviceToken",
    fault: "aborted between two polls",
    play: respond({
      status: "400 No",
      body: '{"error":"authorization_pending"}',
    }),
    options: ({ controller }) => ({
      onPending: () => controller.abort("enough"),
    }),
    outcome: { reason: true },
    requests: 1,
  },
  {
    operation: "pollDeviceToken",
    fault: "aborted while waiting by the real clock",
    play: good,
    options: ({ controller }) => ({
      delay: undefined,
      allowUrl: () => true,
      get now() {
        queueMicrotask(() => controller.abort("enough"));
        return () => 1_000_000_000;
      },
    }),
    outcome: { reason: true },
    requests: 0,
  },
];
