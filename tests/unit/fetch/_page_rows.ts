/**
 * The rows of the tables of DECISIONS.md, sessions.md and prompts.md, each with the
 * decisions that show that it is true. `tests/readme/sessions_test.ts` compares them with
 * the pages.
 */
import {
  adviceFor,
  isOAuthClientError,
  OAuthClientError,
} from "../../../mod.ts";
import {
  isTolerable,
  remainsAfter,
} from "../../../lib/fetch/policy/_decisions.ts";
import { type Need, needOf } from "../../../lib/fetch/policy/_need.ts";
import { SessionMemory } from "../../../lib/fetch/keeper/_session_memory.ts";
import { isGivenUp } from "../../../lib/fetch/policy/_rejections.ts";
import { MCP } from "../../support/fixtures.ts";
import {
  after,
  type Arrived,
  before,
  noUser,
  OVER,
  OVER_R,
  renewal,
  type Shows,
  SOON,
  SOON_R,
  type Stored,
  VALID,
  VALID_R,
} from "./_page_calls.ts";

const isRequired = true;

const STARTS: Record<string, Shows> = {
  "There is none. | is sent without a token": () => [
    [before(undefined), "without token"],
  ],
  "There is none, and the call requires one. | gets a new session first":
    () => [
      [before(undefined, { isRequired }), "ask"],
    ],
  "Its token is valid. | is sent with the token": () => [
    [before(VALID), "with token"],
    [before(VALID_R, { isRequired }), "with token"],
  ],
  "Its token expires soon, and it has a refresh token. | refreshes first; if that fails for now, is sent with the token":
    () => [
      [before(SOON_R), "refresh, early"],
      [before(SOON_R, { flow: undefined }), "refresh, early"],
    ],
  "Its token expires soon, and it has no refresh token. | is sent with the token":
    () => [
      [before(SOON), "with token"],
      [before(SOON, { isRequired }), "with token"],
    ],
  "The same, the call requires a session, and the flow needs no user. | gets a new session first":
    () => [[before(SOON, { isRequired, flow: noUser }), "ask, early"]],
  "Its token has expired. | refreshes first; without a refresh token, gets a new session":
    () => [[before(OVER_R), "refresh"], [before(OVER), "ask"]],
  "Its token has expired, without a refresh token and without `flow`. | is sent without a token":
    () => [[before(OVER, { flow: undefined }), "without token"]],
  "This URL rejected its token, and the call requires a session. | refreshes first; without a refresh token, gets a new session":
    () => [
      [before(VALID_R, { isRequired, isRejected: true }), "refresh"],
      [before(VALID, { isRequired, isRejected: true }), "ask"],
      [before(VALID, { isRejected: true }), "with token"],
    ],
};

const RETURNED = "return";

const ANSWERS: Record<string, Shows> = {
  "any status other than `401` and `403` | returns the response": () =>
    [200, 302, 404, 500].map((status) => [
      after(status, "invalid_token"),
      RETURNED,
    ]),
  "a `401`, or a `403` with `invalid_token` | refreshes, or gets a new session; see [a rejected token](#a-rejected-token)":
    () => [
      [after(401, undefined), "refused: refresh"],
      [after(403, "invalid_token"), "refused: refresh"],
      [after(401, undefined, { stored: VALID }), "refused: ask"],
    ],
  "a `403` with `insufficient_scope` | gets a new session with these scopes":
    () => [
      [after(403, 'insufficient_scope", scope="write'), "step_up: ask"],
      [after(403, 'insufficient_scope", scope="read'), RETURNED],
    ],
  "a `401` with `insufficient_user_authentication` | gets a new session with this authentication":
    () => [[after(401, "insufficient_user_authentication"), "step_up: ask"]],
  "any other `403` | returns the response": () => [
    [after(403, undefined), RETURNED],
    [after(403, "insufficient_scope"), RETURNED],
  ],
  "a `401` about the DPoP proof | returns the response": () => [
    [after(401, "use_dpop_nonce"), RETURNED],
    [after(401, "invalid_dpop_proof"), RETURNED],
  ],
  "any, after three renewals, or if the body was a stream | returns the response":
    () => [[after(401, undefined, { isLast: true }), RETURNED]],
};

const refreshError = (
  status: number | undefined,
  error: string | undefined,
  code: ConstructorParameters<typeof OAuthClientError>[0] = error === undefined
    ? "unexpected_status"
    : "oauth_error",
) => {
  const own = { ...(status && { status }), ...(error && { error }) };
  return new OAuthClientError(code, "", { ...own, request: "refresh" });
};

/** The advice, what is left, and whether a valid token is used. */
const failure = (error: unknown, seconds = 60, isUserInitiated = false) => [
  isOAuthClientError(error) && adviceFor(error).action,
  remainsAfter(error, { reason: "expired", isUserInitiated }, seconds < 0),
  isTolerable(error),
];

const html = refreshError(400, undefined);
const withJson = new OAuthClientError("unexpected_status", "", {
  ...{ status: 400, request: "refresh", errorResponse: { message: "Bad" } },
});

const FAILURES: Record<string, Shows> = {
  "no network, `429`, `5xx` | `retry` | stays | uses the token if it's still valid; otherwise fails with this":
    () =>
      [
        refreshError(undefined, undefined, "network_error"),
        refreshError(429, "slow_down"),
        refreshError(503, undefined),
        refreshError(502, "invalid_grant"),
      ].map((error) => [failure(error), ["retry", "error", true]]),
  "the refresh token is no longer valid (`invalid_grant`) | `reauthorize` | loses its tokens | goes on to a sign-in":
    () => [
      [
        failure(refreshError(400, "invalid_grant")),
        ["reauthorize", "client", false],
      ],
    ],
  "the server doesn't know the client (`invalid_client`) | `reregister` | goes, with the client | goes on to a registration and a sign-in":
    () => [
      [
        failure(refreshError(401, "invalid_client")),
        ["reregister", "nothing", false],
      ],
    ],
  "the new ID token is not valid, or is of another user | `give_up` | loses its tokens | goes on to a sign-in":
    () => [
      [
        failure(refreshError(undefined, undefined, "invalid_id_token")),
        ["give_up", "client", false],
      ],
    ],
  "a page instead of an error (400, 401) | `retry` | stays | as the first row; `api.signIn()` goes on to a sign-in":
    () => [
      [failure(html), ["retry", "error", true]],
      [failure(html, 60, true), ["retry", "all", true]],
    ],
  "`500` with `server_error`, without a valid token | `retry` | stays | goes on to a sign-in":
    () => [
      [failure(refreshError(500, "server_error"), -1), ["retry", "all", true]],
      [failure(refreshError(500, "server_error")), ["retry", "error", true]],
    ],
  "any other response: a redirect, JSON without `error` | `give_up` | stays until it's replaced | goes on to a sign-in":
    () => [
      [failure(refreshError(302, undefined)), ["give_up", "all", false]],
      [
        failure(refreshError(302, undefined, "redirect_refused")),
        ["give_up", "all", false],
      ],
      [failure(withJson), ["give_up", "all", false]],
    ],
};

const ask = (stored: Stored, need: Partial<Need>) =>
  renewal(stored, {
    ...{ reason: "refused", refused: "t1", mayRefresh: true },
    ...need,
  });

const REASONS: Record<string, Shows> = {
  "`no_session` | The store has no session for this API": () => [
    [before(undefined, { isRequired }), "ask"],
    [
      needOf(
        new Response(null, { status: 401 }),
        { session: undefined, token: undefined, source: "store" },
        true,
      )?.reason,
      "no_session",
    ],
  ],
  "`expired` | The token has expired, and there's no refresh token": () => [
    [before(OVER), "ask"],
    [ask(OVER, { reason: "expired" }), "ask"],
  ],
  "`refused` | The API rejects the token, and a refresh is impossible or doesn't help":
    () => [
      [after(401, undefined, { stored: VALID }), "refused: ask"],
      [after(401, undefined, { source: "refresh" }), "refused: ask"],
    ],
  // What `renewUnderLock()` says if it has tried a refresh, and a sign-in is left.
  "`refresh_failed` | The authorization server rejected the refresh": () => [
    [ask(OVER_R, { reason: "expired" }), "refresh"],
    [failure(refreshError(400, "invalid_grant"))[1], "client"],
  ],
  "`step_up` | The API requires more scopes (`insufficient_scope`) or a stronger sign-in":
    () => [
      [after(403, 'insufficient_scope", scope="write'), "step_up: ask"],
      [after(401, "insufficient_user_authentication"), "step_up: ask"],
    ],
  "`fresh` | Your program called `api.signIn({ fresh: true })`": () => [
    [ask(VALID_R, { reason: "fresh", mayRefresh: false }), "ask"],
  ],
};

/** What is known of the URL `/1`, where a token is rejected, and of `/2`. */
interface Known {
  /** The sign-in of the token: by a call, by `signIn()`, or before this process. */
  by?: "call" | "signIn";
  /** What the URL `/1` responded to the token before this one. */
  former?: number;
  /** Which URLs accept the token, after `/3` has rejected it, if `isGivenUp`. */
  accepted?: string[];
  isGivenUp?: boolean;
}

/** Returns what a call does if a URL rejects a token, and whether it gives up on the URL. */
function rejected(known: Known, arrived: Arrived = {}): unknown[] {
  const { by, former, accepted = [], isGivenUp: hasGivenUp } = known;
  const memory = new SessionMemory();
  const note = (url: string, status: number, token = "t1") => {
    const response = new Response(null, { status });
    memory.responded(token, response, {
      url: new URL(MCP + url),
      isNew: false,
    });
  };
  if (former) note("/1", former, "t0");
  if (by) {
    const isUserInitiated = by === "signIn";
    memory.signedIn({ signInOn: "call" }, "t1", {
      ...{ isUserInitiated, refused: "t0" },
    });
  }
  if (hasGivenUp) note("/3", 401);
  for (const url of accepted) note(url, 200);
  const result = after(401, undefined, { memory, ...arrived });
  const { url = "/1" } = arrived;
  return [result, isGivenUp(memory, new URL(MCP + url))];
}

const stored = VALID;
/** Refreshes, or asks the user without a refresh token; another token may help. */
const renewing = (known: Known): ReturnType<Shows> => [
  [rejected(known), ["refused: refresh", false]],
  [rejected(known, { stored }), ["refused: ask", false]],
];

const REJECTED: Record<string, Shows> = {
  "It was stored, or the API accepted it before. | refreshes; without a refresh token, starts a sign-in":
    () => [
      ...renewing({}),
      ...renewing({ by: "call", accepted: ["/1"] }),
      ...renewing({ by: "call", accepted: ["/2"] }),
      ...renewing({ by: "signIn", accepted: ["/1"] }),
    ],
  "The call has just refreshed it. | starts a sign-in": () => [
    [rejected({}, { source: "refresh" }), ["refused: ask", false]],
  ],
  "It is from a sign-in that this call started. | returns the `401`; the library gives up on the URL":
    () => [
      [rejected({ by: "call" }, { source: "sign_in" }), [RETURNED, true]],
    ],
  "It is from `api.signIn()`, and the URL rejected no other token. | refreshes; without a refresh token, starts a sign-in":
    () => [
      ...renewing({ by: "signIn" }),
      ...renewing({ by: "signIn", former: 200 }),
    ],
  "It is from `api.signIn()`, and the URL rejected the token before it. | refreshes, but starts no sign-in; the library gives up on the URL":
    () => [
      [rejected({ by: "signIn", former: 401 }), ["refresh", true]],
      [
        rejected({ by: "signIn", former: 401 }, { stored }),
        [RETURNED, true],
      ],
    ],
  "The library gave up on this URL. | returns the `401`": () => {
    const known = { by: "call", isGivenUp: true } as const;
    const refreshed = { token: "f1", source: "refresh" } as const;
    return [
      [rejected(known, { url: "/3" }), [RETURNED, true]],
      [rejected(known, { url: "/3", ...refreshed }), [RETURNED, true]],
    ];
  },
  "No URL accepted it yet, and the library gave up on another URL. | returns the `401`":
    () => [[rejected({ by: "call", isGivenUp: true })[0], RETURNED]],
  "Only other URLs accepted it, and the library gave up on a URL. | refreshes, but starts no sign-in":
    () => [
      [
        rejected({ by: "call", isGivenUp: true, accepted: ["/2"] }),
        ["refresh", false],
      ],
      [
        rejected({ by: "call", isGivenUp: true, accepted: ["/2"] }, { stored }),
        [RETURNED, false],
      ],
    ],
  "This URL accepted it, and the library gave up on another URL. | refreshes; without a refresh token, starts a sign-in":
    () => renewing({ by: "call", isGivenUp: true, accepted: ["/1"] }),
};

/** The tables of the page by the first cell of their headings. */
export const PAGE_TABLES: Record<string, Record<string, Shows>> = {
  "The stored session": STARTS,
  "The response": ANSWERS,
  "What happened": FAILURES,
  Reason: REASONS,
  "The rejected token": REJECTED,
};
