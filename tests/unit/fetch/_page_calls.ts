/** What a call decides, for the tables of DECISIONS.md, sessions.md and prompts.md: no request is made. */
import {
  answerTo,
  needAtStart,
  stepOf,
  unexpired,
} from "../../../lib/fetch/policy/_decisions.ts";
import {
  type Attempt,
  type Need,
  needOf,
} from "../../../lib/fetch/policy/_need.ts";
import { SessionMemory } from "../../../lib/fetch/keeper/_session_memory.ts";
import {
  mayLeadToSignIn,
  rejectionAt,
  rejectsToken,
} from "../../../lib/fetch/policy/_rejections.ts";
import type { Flow } from "../../../lib/flows/flow.ts";
import { MCP } from "../../support/fixtures.ts";
import { SESSION } from "../../support/resource.ts";

/** What is found for each case of a row, with what the row says. */
export type Shows = () => (readonly [found: unknown, expected: unknown])[];

const NOW = 1_000_000_000_000;
export const rules = {
  bearer: "access_token" as const,
  skewSeconds: 30,
  now: () => NOW,
};
/** A session whose token is valid for so long. */
export const tokenFor = (seconds: number, refresh_token?: string) => ({
  ...SESSION,
  token: {
    access_token: "t1",
    token_type: "Bearer",
    expires_at: NOW / 1000 + seconds,
    ...(refresh_token && { refresh_token }),
  },
});
/** Sessions by how long their tokens are valid; `r`: with a refresh token. */
export const VALID = tokenFor(60), VALID_R = tokenFor(60, "r1");
export const SOON = tokenFor(20), SOON_R = tokenFor(20, "r1");
export const OVER = tokenFor(-1), OVER_R = tokenFor(-1, "r1");
export type Stored = typeof VALID | undefined;

export const flow: Flow = () => Promise.resolve(SESSION);
export const noUser: Flow = Object.assign(() => Promise.resolve(SESSION), {
  needsUser: false,
});

export interface Call {
  flow?: Flow | undefined;
  isRequired?: boolean;
  isRejected?: boolean;
}

/** Returns what a renewal for a need does: `refresh`, or `ask` for a new session. */
export const renewal = (stored: Stored, need: Need) =>
  stepOf(stored, need, { rules, hasClient: true });

/** Returns what a call does before its request is sent. */
export function before(stored: Stored, call: Call = {}): string {
  const { isRequired = false, isRejected = false } = call;
  const own = "flow" in call ? call : { flow };
  const memory = new SessionMemory();
  if (isRejected) {
    const response = new Response(null, { status: 401 });
    memory.responded("t1", response, { url: new URL(MCP), isNew: false });
  }
  const { need, isEarly } = needAtStart(
    stored,
    {
      isRequired,
      url: new URL(MCP),
    },
    { rules, flow: own.flow, keeper: { memory } },
  );
  if (need) return renewal(stored, need) + (isEarly ? ", early" : "");
  return unexpired(stored, rules).token ? "with token" : "without token";
}

export interface Arrived {
  stored?: Stored;
  token?: string;
  source?: Attempt["source"];
  memory?: SessionMemory;
  url?: string;
  isLast?: boolean;
}

/** Returns what a call does with a response, as `callsOf()` puts it together. */
export function after(
  status: number,
  challenge: string | undefined,
  {
    stored = VALID_R,
    token = "t1",
    source = "store",
    memory = new SessionMemory(),
    url = "/1",
    isLast = false,
  }: Arrived = {},
): string {
  const headers: HeadersInit = challenge === undefined
    ? {}
    : { "WWW-Authenticate": `Bearer error="${challenge}"` };
  const response = new Response(null, { status, headers });
  const session = {
    ...stored,
    token: { ...stored.token, access_token: token },
  };
  const used: Attempt = { session, token, source };
  const place = new URL(MCP + url);
  const isNew = source !== "store";
  const rejection = rejectsToken(response)
    ? rejectionAt(memory, token, place)
    : undefined;
  memory.responded(token, response, { url: place, isNew });
  const need = rejection?.isGivenUp ? undefined : needOf(response, used, true);
  const known = {
    ...{ flow, rejection, isLast },
    mayLeadToSignIn: () => mayLeadToSignIn(memory, place),
  };
  const answer = answerTo(need, used, known);
  return need && answer === "renew"
    ? `${need.reason}: ${renewal(session, need)}`
    : answer;
}
