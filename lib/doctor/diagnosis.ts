import type { Client } from "../client/known_client.ts";
import type { DiscoverAuthorizationOptions } from "../discovery/discover.ts";
import type { HintOption, OAuthClientErrorCode } from "../core/errors.ts";
import type { DiagnoseSignIn, DiagnosisSignIn } from "./sign_in/sign_in.ts";

/** The verdict of a diagnosis. */
export const DiagnosisVerdict = {
  /** Nothing that was tried stops a client. See {@linkcode Diagnosis.notTried}. */
  Ready: "ready",
  /** The same, but a client needs a `client_id` from the operator of the server. */
  NeedsClient: "needs_client",
  /** A client of this library stops unless it sets {@linkcode Diagnosis.options}. */
  NeedsOption: "needs_option",
  /** The request without a token is accepted; others may require one. */
  Open: "open",
  /** The resource did not respond. */
  Unreachable: "unreachable",
  /** A client stops, whatever its options. The first finding is the reason. */
  Broken: "broken",
} as const;

/** One of the verdicts. */
export type DiagnosisVerdict =
  typeof DiagnosisVerdict[keyof typeof DiagnosisVerdict];

/** The severity of a finding. */
export const FindingSeverity = {
  /** A strict client stops, unless it sets the options of the finding. */
  Error: "error",
  /** Some clients stop, or security suffers. */
  Warning: "warning",
  /** Worth knowing. */
  Info: "info",
} as const;

/** One of the severities. */
export type FindingSeverity =
  typeof FindingSeverity[keyof typeof FindingSeverity];

/** The options without which a client of this library stops at some servers. */
export const DiagnosisOptionName = {
  /** Of `createAuthorizedFetch`: accepts URLs with http, or on loopback. */
  AllowHttp: "allowHttp",
  /** Of `codeFlow`: uses PKCE where the server does not list it. */
  AssumePkce: "assumePkce",
  /** Of the flows: a client that the operator of the server has registered. */
  Client: "client",
  /** Of the flows: the URL of the client metadata document. */
  ClientMetadataUrl: "clientMetadataUrl",
  /** Of `createAuthorizedFetch`: the key that tokens are bound to. */
  Dpop: "dpop",
  /** Of the flows: whether the `resource` parameter is sent. */
  ResourceIndicator: "resourceIndicator",
  /** Of `createAuthorizedFetch`: metadata of a server that publishes none. */
  ServerMetadata: "serverMetadata",
  /** Of `createAuthorizedFetch`: obtains a token first, because there is no 401. */
  TokenRequired: "tokenRequired",
  /** Of `createAuthorizedFetch`: the issuer that a server's metadata may contain. */
  TrustedIssuers: "trustedIssuers",
} as const;

/** One of the options. */
export type DiagnosisOptionName =
  typeof DiagnosisOptionName[keyof typeof DiagnosisOptionName];

/** An option that a client of this library has to set. */
export interface DiagnosisOption {
  /** Name of the option. */
  name: DiagnosisOptionName;
  /** Its value; absent if only the caller knows it. */
  value?: boolean | Record<string, string>;
}

/** An option of this library, or a function that makes one, in a {@linkcode FindingHint}. */
export type FindingHintOption =
  | HintOption
  | "bearer"
  | "clientCredentialsFlow"
  | "deviceFlow"
  | "fresh"
  | "parameters"
  | "sendScopeOnRefresh"
  | "timeoutMs"
  | "tokenRequired"
  | "userAgent";

/** An option that may help with a finding. Programs can show their own words for it. */
export interface FindingHint {
  /** The option to set, or the function that makes one. */
  option: FindingHintOption;
  /** Its value; absent if only the caller knows it. */
  value?: boolean | string | Record<string, string>;
  /** The words for it. */
  text: string;
}

/** An assumption by which a diagnosis continued after a fault. */
export interface DiagnosisAssumption {
  /** The `id` of the finding that would have stopped the diagnosis. */
  finding: string;
  /** The assumption, in a sentence. */
  message: string;
}

/** One problem of a server. */
export interface Finding {
  /** Stable identifier, such as `issuer_mismatch`. */
  id: string;
  /** How severe the problem is. */
  severity: FindingSeverity;
  /** The problem, in one sentence. */
  message: string;
  /** The URL where it was seen. */
  url?: string;
  /** The standard and its section. */
  standard: string;
  /** How the operator of the server, or the publisher of the document, can fix it. */
  operator: string;
  /**
   * How a client can continue in the meantime, or how this library handles the problem.
   */
  client?: string;
  /** The options of this library that may help, with words for each. */
  hints?: FindingHint[];
  /** The options of this library that help; something else may still stop a client. */
  options?: DiagnosisOption[];
  /** The assumptions that reveal this problem, because another one hides it. */
  assumed?: DiagnosisAssumption[];
  /** The index of the request in {@linkcode Diagnosis.steps} that shows it. */
  step?: number;
  /** The part of the response that shows it, without tokens and codes. */
  excerpt?: string;
}

/** The part of a diagnosis that a request belongs to. */
export const DiagnosisStepName = {
  /** The request to the resource, without a token. */
  Resource: "resource",
  /** Metadata of the resource. */
  ResourceMetadata: "resource_metadata",
  /** Metadata of the authorization server. */
  ServerMetadata: "authorization_server_metadata",
  /** A preflight request like a browser's. */
  Cors: "cors",
  /** The authorization endpoint of a server without metadata. */
  AuthorizationEndpoint: "authorization_endpoint",
  /** The registration endpoint of such a server, by `GET`. */
  RegistrationEndpoint: "registration_endpoint",
  /** The registration of a client. */
  Registration: "registration",
  /** The authorization request that is pushed to the server. */
  PushedAuthorization: "pushed_authorization",
  /** The user's sign-in, from the authorization request to the response. */
  Authorization: "authorization",
  /** The request for a device code. */
  DeviceAuthorization: "device_authorization",
  /** A token request with a code. */
  Token: "token",
  /** The call of the resource with the token. */
  Call: "call",
  /** The same call with an access token that cannot be valid. */
  DeadCall: "dead_call",
  /** A token request with the refresh token. */
  Refresh: "refresh",
  /** The revocation of a token. */
  Revocation: "revocation",
  /** A token request with a refresh token that cannot be valid. */
  DeadRefresh: "dead_refresh",
  /** The deletion of the client that the diagnosis registered. */
  Deregistration: "deregistration",
} as const;

/** One of the parts. */
export type DiagnosisStepName =
  typeof DiagnosisStepName[keyof typeof DiagnosisStepName];

/** A request that is about to be made. */
export interface DiagnosisRequest {
  /** The part of the diagnosis. */
  name: DiagnosisStepName;
  /** HTTP method. */
  method: string;
  /** URL of the request; for an authorization request, without its query. */
  url: string;
}

/** A request that was made. */
export interface DiagnosisStep extends DiagnosisRequest {
  /** Whether only the diagnosis makes this request, and a client does not. */
  isExtra: boolean;
  /** HTTP status; absent without a response. */
  status?: number;
  /** Milliseconds until the response was read. */
  ms: number;
  /** The result, in a few words. */
  result: string;
  /** The header fields of the response that matter here, by lower-case name. */
  headers: Record<string, string>;
  /** The standard and its section. */
  standard: string;
  /** The content of a sign-in's request; `[hidden]` replaces secrets. */
  sent?: Record<string, string>;
  /**
   * The members of its response; `[hidden]` replaces values that are, or may be,
   * secret.
   */
  received?: Record<string, unknown>;
}

/** The result of {@linkcode discoverAuthorization}. */
export interface DiagnosisContext {
  /** Resource indicator; absent if the target is an authorization server. */
  resource?: string;
  /** Issuer of the authorization server. */
  issuer: string;
  /** The source of the authorization server; `target`: it is the target itself. */
  source: "resource_metadata" | "option" | "fallback" | "target";
  /** URL of the server's metadata; absent if the endpoints are assumed. */
  serverMetadataUrl?: string;
  /** Scopes that a flow requests; absent if nothing lists them. */
  scopes?: string[];
  /**
   * How a client obtains its `client_id`, according to the metadata: by registration,
   * by a client metadata document, or from the server's operator.
   */
  client: "register" | "client_metadata_document" | "ask_user";
  /**
   * Whether authorization responses contain `iss` (RFC 9207); absent without an
   * authorization endpoint.
   */
  iss?: DiagnosisIss;
  /**
   * Whether a web page can be the client; only with `browser`. `with_client`: it cannot
   * register one, and needs a client id.
   */
  webPages?: boolean | "with_client";
}

/** Whether authorization responses contain `iss`, their issuer. */
export const DiagnosisIss = {
  /** The metadata announces `iss`. */
  Promised: "promised",
  /** The metadata does not, but the response of the sign-in contained it. */
  Sent: "sent",
  /** The metadata does not, and the response of the sign-in did not contain it. */
  Missing: "missing",
  /** The metadata does not, and there was no response. */
  Unpromised: "unpromised",
} as const;

/** One of these values. */
export type DiagnosisIss = typeof DiagnosisIss[keyof typeof DiagnosisIss];

/** The result of {@linkcode diagnose}: plain JSON. */
export interface Diagnosis {
  /** URL of the resource, or of an authorization server. */
  target: string;
  /** When the diagnosis started, as in ISO 8601. */
  date: string;
  /** The verdict. */
  verdict: DiagnosisVerdict;
  /** The verdict in a few sentences. */
  summary: string;
  /**
   * The options that a client of this library must set in addition to `given`. Absent
   * if there are none, or none helps.
   */
  options?: DiagnosisOption[];
  /** The caller's options of these; absent if none. */
  given?: DiagnosisOption[];
  /**
   * The endpoints that a sign-in uses and the diagnosis did not, by their member names
   * in the server's metadata. Absent without a context.
   */
  notTried?: string[];
  /** The discovery's result, with `options` if needed; absent if it failed. */
  context?: DiagnosisContext;
  /**
   * Why discovery failed without `options`: the error of
   * {@linkcode discoverAuthorization}.
   */
  failure?: { code: OAuthClientErrorCode; message: string };
  /** The result of the sign-in; absent without a sign-in. */
  signIn?: DiagnosisSignIn;
  /** Every request, in order. */
  steps: DiagnosisStep[];
  /** The findings, errors first. */
  findings: Finding[];
}

/** Options of {@linkcode diagnose}. */
export interface DiagnoseOptions extends
  Omit<
    DiscoverAuthorizationOptions,
    | "challenge"
    | "resourceMetadataHeaders"
    | "offlineAccess"
  > {
  /** Header fields for `GET` requests to the origin of the resource only. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Continues with a server that does not list its PKCE methods. */
  assumePkce?: boolean | undefined;
  /**
   * Adds the scope `offline_access` if the server lists it, as flows do.
   *
   * @default true
   */
  offlineAccess?: boolean | undefined;
  /**
   * Signs a user in, unless an earlier error stops a client. Registers a client unless
   * you set one, obtains a token, calls the resource, refreshes and revokes the token,
   * and deletes the registered client if possible. Neither stores nor uses a stored
   * session.
   */
  signIn?: DiagnoseSignIn | undefined;
  /**
   * A program's existing client, for a diagnosis without `signIn`: it needs no
   * registration. Nothing is sent with it.
   */
  client?: Client | undefined;
  /**
   * Also makes a web page's requests, to test whether a page can be the client.
   *
   * @default {false}
   */
  browser?: boolean | undefined;
  /** The `User-Agent` of all requests: some firewalls require it. */
  userAgent?: string | undefined;
  /** Called before each request. */
  onRequest?: ((request: DiagnosisRequest) => void) | undefined;
  /**
   * Returns the time in milliseconds since the Unix epoch.
   *
   * @default {Date.now}
   */
  now?: (() => number) | undefined;
}
