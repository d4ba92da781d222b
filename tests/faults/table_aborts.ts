/** Aborts: before, during the headers, during the body, between attempts. */

import { type Case, GETS, type OperationName, OPERATIONS } from "./case.ts";
import { headOf, respond, thenSilence } from "./plays.ts";

const REASONS = [new Error("Enough"), "enough", 0, null];
const PENDING = respond({
  status: "400 No",
  body: '{"error":"authorization_pending"}',
});

type Fetch = typeof fetch;

/** Cases that end with the reason of the caller's signal, for all operations or some. */
function aborted(
  fault: string,
  parts: Pick<Case, "play" | "input" | "options" | "requests">,
  operations: readonly OperationName[] = OPERATIONS,
): Case[] {
  return operations.map((operation) => ({
    operation,
    fault,
    outcome: { reason: true },
    ...parts,
  }));
}

/** The server itself aborts, when it has written a part of the headers. */
function duringHeaders(): Case[] {
  let abort = () => {};
  return aborted("aborted during the headers", {
    async play({ write }) {
      await write("HTTP/1.1 200 OK\r\n");
      abort();
    },
    options({ controller }) {
      abort = () => controller.abort("enough");
      return {};
    },
    requests: 1,
  });
}

export const ABORT_CASES: readonly Case[] = [
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
  ...duringHeaders(),
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
  ...aborted("aborted between two attempts", {
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
    requests: 1,
  }, GETS),
  ...aborted("aborted between two polls", {
    play: PENDING,
    options: ({ controller }) => ({
      onPending: () => controller.abort("enough"),
    }),
    requests: 1,
  }, ["pollDeviceToken"]),
  ...aborted("aborted while waiting by the real clock", {
    options: ({ controller }) => ({
      delay: undefined,
      allowUrl: () => true,
      get now() {
        queueMicrotask(() => controller.abort("enough"));
        return () => 1_000_000_000;
      },
    }),
    requests: 0,
  }, ["pollDeviceToken"]),
  ...aborted("aborted in an interval beyond every timer, by the real clock", {
    play: PENDING,
    input: () => ({
      authorization: { interval: 9_000_000, expires_at: 4_000_000_000 },
    }),
    options: ({ controller }) => {
      // By then a timer that overflows would have fired.
      setTimeout(() => controller.abort("enough"), 100);
      return { delay: undefined, now: undefined };
    },
    requests: 0,
  }, ["pollDeviceToken"]),
];
