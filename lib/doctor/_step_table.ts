import type { DiagnosisStepName } from "./diagnosis.ts";

export interface StepKind {
  readonly standard: string;
  readonly lane: "resource" | "server";
  /** Its part of a sign-in; absent in a discovery. */
  readonly part?: "Sign-in" | "With the token" | "At the end";
  /** The content of a sign-in's successful response, in a few words. */
  readonly words?: string;
  /** The purpose of a request whose URL does not show it. */
  readonly purpose?: string;
  readonly isJson?: true;
  readonly isExtra?: true;
  /** Which bodies are read: an event stream never ends. */
  readonly reads?: "errors" | "nothing";
}

/** Steps that only check whether a server's endpoint exists. */
const LOOK = { lane: "server", isExtra: true, reads: "nothing" } as const;

export const STEPS: Readonly<Record<DiagnosisStepName, StepKind>> = {
  resource: {
    standard: "RFC 9728, section 5; RFC 6750, section 3",
    lane: "resource",
    reads: "nothing",
  },
  resource_metadata: {
    standard: "RFC 9728, section 3",
    lane: "resource",
    isJson: true,
  },
  authorization_server_metadata: {
    standard: "RFC 8414, section 3",
    lane: "server",
    isJson: true,
  },
  cors: { standard: "Fetch Standard, section 3.3", ...LOOK },
  authorization_endpoint: { standard: "RFC 6749, section 3.1", ...LOOK },
  registration_endpoint: { standard: "RFC 7591, section 3", ...LOOK },
  registration: {
    standard: "RFC 7591, section 3.1",
    lane: "server",
    part: "Sign-in",
    words: "registered",
    isJson: true,
  },
  pushed_authorization: {
    standard: "RFC 9126, section 2.1",
    lane: "server",
    part: "Sign-in",
    words: "pushed",
    isJson: true,
  },
  authorization: {
    standard: "RFC 6749, section 4.1.1; RFC 7636, section 4.3",
    lane: "server",
    part: "Sign-in",
  },
  device_authorization: {
    standard: "RFC 8628, section 3.1",
    lane: "server",
    part: "Sign-in",
    words: "code issued",
    isJson: true,
  },
  token: {
    standard: "RFC 6749, section 4.1.3; RFC 7636, section 4.5",
    lane: "server",
    part: "Sign-in",
    words: "token",
    purpose: "code",
    isJson: true,
  },
  call: {
    standard: "RFC 6750, section 2.1",
    lane: "resource",
    part: "With the token",
    words: "accepted",
    purpose: "with the token",
    reads: "errors",
  },
  dead_call: {
    standard: "RFC 6750, section 3.1",
    lane: "resource",
    part: "With the token",
    words: "accepted",
    purpose: "invalid token",
    reads: "errors",
    isExtra: true,
  },
  refresh: {
    standard: "RFC 6749, section 6",
    lane: "server",
    part: "With the token",
    words: "refreshed",
    purpose: "refresh",
    isJson: true,
  },
  revocation: {
    standard: "RFC 7009, section 2.1",
    lane: "server",
    part: "With the token",
    words: "revoked",
  },
  dead_refresh: {
    standard: "RFC 6749, section 5.2",
    lane: "server",
    part: "With the token",
    words: "accepted",
    purpose: "dead refresh token",
    isJson: true,
    isExtra: true,
  },
  deregistration: {
    standard: "RFC 7592, section 2.3",
    lane: "server",
    part: "At the end",
    words: "deleted",
    isExtra: true,
  },
};
