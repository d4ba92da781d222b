import type { IAuthorizationDynamicClientRegistrationResponse } from "../core/types.ts";
import type { TestEndpoint, TestRequest } from "./request.ts";
import type { TestFault, TestSwitches } from "./switches.ts";

/** Options of {@linkcode createTestServers}. */
export interface TestServersOptions extends Partial<TestSwitches> {
  /**
   * URL of the resource; URLs below it require a token as well.
   *
   * @default "https://api.example/mcp"
   */
  resource?: string | undefined;
  /**
   * Identifier of the authorization server.
   *
   * @default "https://auth.example"
   */
  issuer?: string | undefined;
  /**
   * Scopes in the metadata of the resource.
   *
   * @default {["read"]}
   */
  scopes?: readonly string[] | undefined;
  /**
   * Clients that are registered in advance. For a client metadata document, add a
   * client with its URL as `client_id`.
   */
  clients?:
    | readonly IAuthorizationDynamicClientRegistrationResponse[]
    | undefined;
  /**
   * Returns the time in milliseconds since the Unix epoch.
   *
   * @default {Date.now}
   */
  now?: (() => number) | undefined;
}

/** A user who signs in without a browser: options for `codeFlow`. */
export interface TestReceiver {
  /** Redirect URI for programs without their own. */
  readonly redirectUri: string;
  /**
   * Opens a URL as the user, and returns the URL that the user is redirected to.
   *
   * @throws {OAuthClientError} `timeout`: the user `leaves`, and 5 minutes have passed.
   */
  readonly visit: (
    url: string | URL,
    options?: { signal?: AbortSignal | undefined },
  ) => Promise<string>;
  /** Client metadata for programs without their own. */
  readonly clientMetadata: { readonly client_name: string };
}

/** A resource and its authorization server, from {@linkcode createTestServers}. */
export interface TestServers extends TestSwitches {
  /** URL of the resource. */
  readonly resource: string;
  /** Identifier of the authorization server. */
  readonly issuer: string;
  /**
   * The network: a `fetch` that reaches only these servers. It returns redirects
   * without following them.
   */
  readonly fetch: (
    input: string | URL | Request,
    init?: RequestInit,
  ) => Promise<Response>;
  /** The clock of the servers, for the option `now` of the client. */
  readonly now: () => number;
  /** The user. */
  readonly receiver: TestReceiver;
  /** All requests, in order. */
  readonly requests: TestRequest[];
  /** Returns the requests to an endpoint; token requests by their grant type. */
  received(endpoint: TestEndpoint, grantType?: string): TestRequest[];
  /**
   * Returns the valid access tokens, for example to check that a sign-out left none.
   */
  accessTokens(): string[];
  /** Moves the clock. "It works until lunch." */
  advance(seconds: number): void;
  /**
   * Makes the access tokens invalid before they expire. "401 although the token is good
   * for another hour."
   */
  expireAccessTokens(): void;
  /** Revokes all grants. "The user pressed sign out everywhere." */
  revoke(): void;
  /** Deletes the clients. "It worked until they restarted their server." */
  forgetClients(): void;
  /**
   * Responds to the next request of an endpoint with a fault; called twice, to the next
   * two.
   */
  failNext(endpoint: TestEndpoint, fault: TestFault): void;
}
