/**
 * The result of a diagnosis, as plain JSON.
 *
 * @module
 */

import type { IDiscoverAuthorizationOptions } from "../discovery/discover.ts";
import type { OAuthClientErrorCode } from "../core/errors.ts";

/** The verdict of a diagnosis. */
export const DiagnosisVerdict = {
  /** A client can discover the server, obtain a `client_id` and request a token. */
  Ready: "ready",
  /** The same, but the operator of the server has to register the client. */
  NeedsClient: "needs_client",
  /** The resource does not require a token at this URL. */
  Open: "open",
  /** There is no response from the resource. */
  Unreachable: "unreachable",
  /** A strict client stops; a finding of severity `error` has the reason. */
  Broken: "broken",
} as const;

/** One of the verdicts. */
export type DiagnosisVerdict =
  typeof DiagnosisVerdict[keyof typeof DiagnosisVerdict];

/** The severity of a finding. */
export const FindingSeverity = {
  /** A strict client stops. */
  Error: "error",
  /** Some clients stop, or security suffers. */
  Warning: "warning",
  /** Worth knowing. */
  Info: "info",
} as const;

/** One of the severities. */
export type FindingSeverity =
  typeof FindingSeverity[keyof typeof FindingSeverity];

/** One problem of a server. */
export interface IFinding {
  /** Stable identifier, such as `issuer_mismatch`. */
  id: string;
  /** How severe the problem is. */
  severity: FindingSeverity;
  /** What was seen, in one sentence. */
  message: string;
  /** The URL where it was seen. */
  url?: string;
  /** The standard and its section. */
  standard: string;
  /** What the operator of the server can change. */
  operator: string;
  /** What a client can do meanwhile. */
  client?: string;
}

/** The part of a diagnosis that a request belongs to. */
export const DiagnosisStepName = {
  /** The request to the resource, without a token. */
  Resource: "resource",
  /** Metadata of the resource. */
  ResourceMetadata: "resource_metadata",
  /** Metadata of the authorization server. */
  ServerMetadata: "authorization_server_metadata",
  /** A preflight request, as browsers make it. */
  Cors: "cors",
  /** The authorization endpoint of a server without metadata. */
  AuthorizationEndpoint: "authorization_endpoint",
  /** The registration of a client. */
  Registration: "registration",
} as const;

/** One of the parts. */
export type DiagnosisStepName =
  typeof DiagnosisStepName[keyof typeof DiagnosisStepName];

/** A request that is about to be made. */
export interface IDiagnosisRequest {
  /** The part of the diagnosis. */
  name: DiagnosisStepName;
  /** HTTP method. */
  method: string;
  /** URL of the request. */
  url: string;
}

/** A request that was made. */
export interface IDiagnosisStep extends IDiagnosisRequest {
  /**
   * Whether the request is an additional one of the diagnosis; a client does not
   * make it.
   */
  isExtra: boolean;
  /** HTTP status; absent without a response. */
  status?: number;
  /** Milliseconds until the response was read. */
  ms: number;
  /** What was read, in a few words. */
  result: string;
  /** The header fields of the response that matter here, by lower-case name. */
  headers: Record<string, string>;
}

/** What {@linkcode discoverAuthorization} found. */
export interface IDiagnosisContext {
  /** Resource indicator. */
  resource: string;
  /** Issuer of the authorization server. */
  issuer: string;
  /** What named the authorization server. */
  source: "resource_metadata" | "option" | "fallback";
  /** URL of the server's metadata; absent if the endpoints are assumed. */
  serverMetadataUrl?: string;
  /** Scopes to request; absent if nothing names them. */
  scopes?: string[];
  /**
   * How a client obtains its `client_id`: by registration, by a client metadata
   * document, or from the operator of the server.
   */
  client: "register" | "client_metadata_document" | "ask_user";
}

/** The result of {@linkcode diagnose}: plain JSON. */
export interface IDiagnosis {
  /** URL of the resource. */
  target: string;
  /** The verdict. */
  verdict: DiagnosisVerdict;
  /** The verdict in one sentence. */
  summary: string;
  /** What discovery found; absent if it failed. */
  context?: IDiagnosisContext;
  /** Why discovery failed: the error of {@linkcode discoverAuthorization}. */
  failure?: { code: OAuthClientErrorCode; message: string };
  /** The client that was registered, without its credentials. */
  registration?: { client_id: string; token_endpoint_auth_method?: string };
  /** Every request, in order. */
  steps: IDiagnosisStep[];
  /** The findings, errors first. */
  findings: IFinding[];
}

/** Options of {@linkcode diagnose}. */
export interface IDiagnoseOptions extends
  Omit<
    IDiscoverAuthorizationOptions,
    "challenge" | "sameOriginHeaders" | "selectAuthorizationServer"
  > {
  /** Header fields for `GET` requests to the origin of the resource only. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Continues with a server that does not list its PKCE methods. */
  assumePkce?: boolean | undefined;
  /**
   * Whether to register a client, if the server allows it.
   *
   * @default false
   */
  register?: boolean | undefined;
  /** Called before each request. */
  onRequest?: ((request: IDiagnosisRequest) => void) | undefined;
  /**
   * Returns the time in milliseconds since the Unix epoch.
   *
   * @default {Date.now}
   */
  now?: (() => number) | undefined;
}
