import type { TestEndpoint, TestRequest } from "./request.ts";

/**
 * A fault of one response:
 *
 * - `lose_request`: the connection breaks before the server has acted. "It fails on the
 *   train, and works at home."
 * - `lose_response`: the connection breaks after the server has acted. "My users are
 *   signed out after a deployment": the rotated refresh token never arrived.
 * - `hang`: there is no response until the request is aborted. "My program waits for
 *   ever."
 * - a number: this status, with `Retry-After: 1` and the error
 *   `temporarily_unavailable`. "A minute of 503 signed everybody out."
 * - a `Response`, for anything else: a page of a proxy, or `invalid_grant` with 503.
 */
export type TestFault =
  | "lose_request"
  | "lose_response"
  | "hang"
  | number
  | Response;

/** An access token that is valid. */
export interface TestToken {
  /** Client that the token was issued to. */
  readonly clientId: string;
  /** Scopes of the token. */
  readonly scopes: readonly string[];
}

/**
 * How the servers behave. Set these as options, or change them at any time. Each
 * comment quotes the users of such a server.
 */
export interface TestSwitches {
  /**
   * Lifetime of access tokens in seconds; `Infinity` for tokens that do not expire and
   * have no `expires_in`. "Every call fails once an hour."
   *
   * @default 3600
   */
  lifetimeSeconds: number;
  /**
   * Whether refresh tokens are issued. "I have to sign in again each morning."
   *
   * @default true
   */
  refreshTokens: boolean;
  /**
   * Whether a refresh token can be used only once. A second use revokes the grant (RFC
   * 9700, section 4.14.2). "With two windows open, I am signed out in both."
   *
   * @default true
   */
  rotate: boolean;
  /**
   * Seconds in which a second use is still allowed, for lost responses, as many servers
   * do. "It survives a lost connection at one provider only."
   *
   * @default 0
   */
  replaySeconds: number;
  /**
   * Scopes that a call requires. Without one, the call is rejected with 403 and
   * `insufficient_scope`. "One tool always fails, and nobody requested my permission."
   *
   * @default {[]}
   */
  requiredScopes:
    | readonly string[]
    | ((request: TestRequest) => readonly string[]);
  /**
   * Authentication context class that a call requires (RFC 9470). "It wants a second
   * factor, and the program refreshes its token for ever."
   *
   * @default null
   */
  requiredAcr: string | null;
  /**
   * Scopes that the user does not grant. "I unticked one box, and now it prompts me
   * each time."
   *
   * @default {[]}
   */
  withheldScopes: readonly string[];
  /**
   * Scopes for which a request is rejected with `invalid_scope`, such as
   * `offline_access`. "Sign-in fails at this company's server only."
   *
   * @default {[]}
   */
  refusedScopes: readonly string[];
  /**
   * The user's reaction. A user who `leaves` sees the page, and is never redirected:
   * the sign-in fails when its signal aborts, or with `timeout` after 5 minutes of the
   * clock that `advance` moves. "I closed the tab, and each call opened a new one."
   *
   * @default "consents"
   */
  user: "consents" | "refuses" | "leaves";
  /**
   * `iss` of authorization responses (RFC 9207): another issuer for a mix-up attack, or
   * `null` to omit it although the metadata announces it. "It sent my code to a
   * stranger."
   *
   * @default {the issuer}
   */
  iss: string | null;
  /**
   * How the parameter `resource` (RFC 8707) is treated: `required` as in MCP,
   * `optional`, or `refused` as by Microsoft Entra ID. "AADSTS9010010."
   *
   * @default "required"
   */
  resourceParameter: "required" | "optional" | "refused";
  /**
   * Whether DPoP binds tokens to a key (RFC 9449): `optional`, if the client sends a
   * proof; `required` by both servers; or `ignored`, as by a server without DPoP. "It
   * works with every server but the bank's."
   *
   * @default "optional"
   */
  dpop: "optional" | "required" | "ignored";
  /**
   * Whether a proof must contain its receiver's nonce. Both servers change it every 5
   * minutes of the clock that `advance` moves. "The first call after a pause always
   * fails."
   *
   * @default false
   */
  dpopNonce: boolean;
  /**
   * Endpoints that reject each request with 429, each with the seconds of its
   * `Retry-After`, such as `{ token: 300 }`. `advance` does not lift this: remove the
   * endpoint. "We were blocked for a day, because the program refreshed its token at
   * each call."
   *
   * @default {{}}
   */
  retryAfterSeconds: Readonly<Partial<Record<TestEndpoint, number>>>;
  /**
   * Members for the metadata of the authorization server; undefined removes one. "It
   * stopped working when they changed their issuer", "no PKCE methods are listed".
   *
   * @default {{}}
   */
  serverMetadata: Readonly<Record<string, unknown>>;
  /**
   * Members for the metadata of the resource, such as other `authorization_servers`.
   * "They moved to another provider, and our users can no longer sign in."
   *
   * @default {{}}
   */
  resourceMetadata: Readonly<Record<string, unknown>>;
  /**
   * Responds to any request instead of the servers; returns undefined to let them
   * respond. For behavior without a switch.
   *
   * @default {() => undefined}
   */
  intercept: (
    request: TestRequest,
  ) => Response | undefined | Promise<Response | undefined>;
  /**
   * Responds to calls with a valid token, for example as an MCP server.
   *
   * @default {a response 200 with JSON}
   */
  handle: (
    request: Request,
    token: TestToken,
  ) => Response | Promise<Response>;
}
