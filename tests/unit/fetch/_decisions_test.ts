/** What happens next to a session, without a request, a clock or a store. */
import { assertEquals } from "@std/assert";
import { OAuthClientError } from "../../../mod.ts";
import {
  answerTo,
  needAtStart,
  type PromptFacts,
  promptFor,
  remainsAfter,
  stepOf,
} from "../../../lib/fetch/policy/_decisions.ts";
import type { Need } from "../../../lib/fetch/policy/_need.ts";
import type {
  TokenRecords,
  UrlRecord,
} from "../../../lib/fetch/policy/_rejections.ts";
import { MCP } from "../../support/fixtures.ts";
import { flow, noUser, rules, tokenFor as session } from "./_page_calls.ts";

const never = () => false;

/** What is known of tokens if a URL rejects the token t1. */
const rejecting = (record: UrlRecord): TokenRecords => ({
  signIn: { token: "t1", isUserInitiated: false, state: "valid" },
  urls: new Map([[MCP, { rejected: "t1", ...record }]]),
  refreshes: [],
});
const nothing: TokenRecords = { ...rejecting({}), urls: new Map() };
const rejected = rejecting({});
/** A click has led to a refresh, and no token was accepted since. */
const rejectedAll: TokenRecords = {
  ...rejected,
  refreshes: ["t1"],
};
const isRequired = true;

/** The rows of `needAtStart()`, in its order; a valid token is in none of them. */
const STARTS = {
  "no refresh token, no flow": [session(-1), {}, undefined, undefined],
  "no session, required, no flow": [
    ...[undefined, { isRequired }, undefined, undefined] as const,
  ],
  "no session, required": [undefined, { isRequired }, flow, "no_session"],
  "no session": [undefined, {}, flow, undefined],
  "refused here, required": [
    ...[session(60), { isRequired, memory: rejected }] as const,
    ...[flow, "refused"] as const,
  ],
  "refused here, and so each token, at a click": [
    session(60, "r1"),
    { isRequired, memory: rejectedAll, isUserInitiated: true },
    ...[flow, "refused, no refresh"] as const,
  ],
  "refused here, and so each token, in a call": [
    session(60, "r1"),
    { isRequired, memory: rejectedAll },
    ...[flow, "refused"] as const,
  ],
  "refused here, not required": [
    ...[session(60), { memory: rejected }, flow, undefined] as const,
  ],
  "expired": [session(-1), {}, flow, "expired"],
  "expires soon, with a refresh token": [
    ...[session(20, "r1"), {}, undefined, "expired, early"] as const,
  ],
  "expires soon, without": [session(20), {}, flow, undefined],
  "expires soon, without, required": [
    ...[session(20), { isRequired }, flow, undefined] as const,
  ],
  "expires soon, without, required, no user": [
    ...[session(20), { isRequired }, noUser, "expired, early"] as const,
  ],
  "expires soon, without, required, wanted": [
    ...[session(20), { isRequired, isUserInitiated: true }] as const,
    ...[flow, "expired, early"] as const,
  ],
  "valid": [session(60, "r1"), { isRequired }, flow, undefined],
} as const;

Deno.test("needAtStart() returns what a call needs before it is sent", () => {
  for (const [label, row] of Object.entries(STARTS)) {
    const [stored, start, flow, expected] = row;
    const all = { isRequired: false, memory: nothing, url: new URL(MCP) };
    const { memory, ...call } = { ...all, ...start };
    const { need, isEarly } = needAtStart(
      stored,
      call,
      { rules, flow, keeper: { memory } },
    );
    const result = need && need.reason + (isEarly ? ", early" : "") +
        (need.mayRefresh ? "" : ", no refresh");
    assertEquals(result, expected, label);
  }
});

const need = (
  reason: Need["reason"],
  further: Partial<Need> = {},
): Need => ({ reason, refused: "t1", mayRefresh: true, ...further });

/** The rows of `answerTo()`, in its order: the need, the session, what is known. */
const ANSWERS = {
  "nothing that helps": [undefined, session(60, "r1"), {}, "return"],
  "the last time": [
    ...[
      need("refused"),
      session(60, "r1"),
      { isLast: true },
      "return",
    ] as const,
  ],
  "refused when new, no flow": [
    ...[need("refused"), session(60, "r1")] as const,
    { flow: undefined, rejection: { isRepeated: true } },
    "return",
  ],
  "refused when new": [
    ...[need("refused"), session(60, "r1")] as const,
    { rejection: { isRepeated: true } },
    "renew",
  ],
  "refused, no flow": [
    ...[need("refused"), session(60, "r1")] as const,
    { flow: undefined, rejection: { isRepeated: false } },
    "renew",
  ],
  "requires more": [
    ...[
      need("step_up"),
      session(60),
      { mayLeadToSignIn: never },
      "renew",
    ] as const,
  ],
  "refused, must not ask, no user": [
    ...[need("refused"), session(60)] as const,
    {
      flow: noUser,
      rejection: { isRepeated: false },
      mayLeadToSignIn: never,
    },
    "renew",
  ],
  "refused, must not ask, with a refresh token": [
    ...[need("refused"), session(60, "r1")] as const,
    { rejection: { isRepeated: false }, mayLeadToSignIn: never },
    "refresh",
  ],
  "refused, must not ask, just refreshed": [
    ...[need("refused", { mayRefresh: false }), session(60, "r1")] as const,
    { rejection: { isRepeated: false }, mayLeadToSignIn: never },
    "return",
  ],
  "refused, must not ask, no refresh token": [
    ...[need("refused"), session(60)] as const,
    { rejection: { isRepeated: false }, mayLeadToSignIn: never },
    "return",
  ],
} as const;

Deno.test("answerTo() returns a response, or leads to a renewal", () => {
  const usual = {
    ...{ flow, rejection: undefined },
    ...{ mayLeadToSignIn: () => true, isLast: false },
  };
  for (const [label, row] of Object.entries(ANSWERS)) {
    const [wanted, session, known, expected] = row;
    const answer = answerTo(wanted, { session }, { ...usual, ...known });
    assertEquals(answer, expected, label);
  }
});

const MANY_SCOPES = Array.from({ length: 200 }, (_, n) => `s${n}`).join(" ");

/** The rows of `stepOf()`. */
const STEPS = {
  "another token is there": [
    ...[session(60, "r1"), need("expired", { refused: "t0" })] as const,
    ...[true, "use"] as const,
  ],
  "more scopes than can be requested": [
    ...[session(60), need("step_up", { requiredScopes: MANY_SCOPES })],
    ...[true, "use"] as const,
  ],
  "refused": [session(60, "r1"), need("refused"), true, "refresh"],
  "refused, the client is not known": [
    ...[session(60, "r1"), need("refused"), false, "ask"] as const,
  ],
  "refused, a refresh would not help": [
    ...[session(60, "r1"), need("refused", { mayRefresh: false })] as const,
    ...[true, "ask"] as const,
  ],
  "another token is there, and has expired": [
    session(-1, "r1"),
    need("refused", { refused: "t0", mayRefresh: false }),
    ...[true, "refresh"] as const,
  ],
  "no refresh token": [session(60), need("refused"), true, "ask"],
  "fresh": [
    ...[session(60, "r1"), need("fresh", { mayRefresh: false })] as const,
    ...[true, "ask"] as const,
  ],
  "fresh, and another token is there": [
    session(60, "r1"),
    need("fresh", { refused: "t0", mayRefresh: false }),
    ...[true, "ask"] as const,
  ],
  "no session": [
    ...[undefined, need("no_session", { refused: undefined })] as const,
    ...[true, "ask"] as const,
  ],
} as const;

Deno.test("stepOf() uses, refreshes or replaces a session", () => {
  for (const [label, row] of Object.entries(STEPS)) {
    const [stored, wanted, hasClient, expected] = row;
    assertEquals(
      stepOf(stored, wanted as Need, { rules, hasClient }),
      expected,
      label,
    );
  }
});

const oauth = (error: string, status = 400) =>
  new OAuthClientError("oauth_error", "", {
    ...{ error, status, request: "refresh" },
  });
const ours = (
  code: ConstructorParameters<typeof OAuthClientError>[0],
  status?: number,
) => new OAuthClientError(code, "", { status, request: "refresh" });
const wanted = { isUserInitiated: true };

/** The rows of `remainsAfter()`, in its order: with how many seconds the token has left. */
const LEFT = {
  "none of this library": [new Error(), need("refused"), 60, "error"],
  "server_error, early": [
    ...[oauth("server_error", 500), need("expired"), 60, "error"] as const,
  ],
  "server_error, expired": [
    ...[oauth("server_error", 500), need("expired"), -1, "all"] as const,
  ],
  "server_error, refused": [
    ...[oauth("server_error", 500), need("refused"), 60, "all"] as const,
  ],
  "a page": [ours("unexpected_status", 400), need("refused"), 60, "error"],
  "a page, wanted": [
    ...[ours("unexpected_status", 401), need("refused", wanted)] as const,
    ...[60, "all"] as const,
  ],
  "retry": [ours("unexpected_status", 503), need("refused"), -1, "error"],
  "network": [ours("network_error"), need("refused"), -1, "error"],
  "without a status": [ours("invalid_argument"), need("refused"), -1, "error"],
  "reregister": [oauth("invalid_client", 401), need("expired"), 60, "nothing"],
  "reauthorize": [oauth("invalid_grant"), need("expired"), 60, "client"],
  "another user": [ours("invalid_id_token"), need("expired"), 60, "client"],
  "another server": [ours("issuer_mismatch"), need("refused"), 60, "all"],
  "a redirect": [ours("redirect_refused"), need("refused"), 60, "all"],
  "any other": [ours("unexpected_status", 302), need("refused"), 60, "all"],
} as const;

Deno.test("remainsAfter() returns what is left after a failed refresh", () => {
  for (const [label, row] of Object.entries(LEFT)) {
    const [error, wanted, seconds, expected] = row;
    assertEquals(remainsAfter(error, wanted, seconds < 0), expected, label);
  }
});

const busy = ours("unexpected_status", 429);
const authorizing = { signInOn: "signIn" } as const;

/** The rows of `promptFor()`, in its order. */
const PROMPTS: Record<string, [Need, PromptFacts, string]> = {
  "put off": [need("refused"), { flow: noUser, putOff: busy }, "put_off"],
  "put off, the user asked for it": [
    ...[need("refused", wanted), { flow, putOff: busy }] as const,
    "yes",
  ],
  "needs no user": [
    need("refused"),
    { flow: noUser, mayLeadToSignIn: false, ...authorizing },
    "yes",
  ],
  "the URL is given up": [
    ...[need("refused"), { flow, mayLeadToSignIn: false }] as const,
    "given_up",
  ],
  "the URL is given up, no flow": [
    need("refused"),
    { flow: undefined, mayLeadToSignIn: false },
    "given_up",
  ],
  "no flow": [need("refused"), { flow: undefined }, "no_flow"],
  "the user asked for it": [
    need("refused", wanted),
    { flow, abandoned: new Error(), ...authorizing },
    "yes",
  ],
  "only signIn() may": [
    ...[need("refused"), { flow, ...authorizing }, "click"] as const,
  ],
  "abandoned": [
    need("refused"),
    { flow, abandoned: new Error() },
    "click",
  ],
  "any other": [need("refused"), { flow, signInOn: "call" }, "yes"],
};

Deno.test("promptFor() returns whether the user may be prompted", () => {
  for (const [label, [wanted, facts, expected]] of Object.entries(PROMPTS)) {
    assertEquals(promptFor(wanted, facts), expected, label);
  }
});
