import type { Client } from "../../client/known_client.ts";
import type { Visit } from "../../flows/code_flow_options.ts";
import type { DeviceAuthorization } from "../../token/device_grant.ts";

/** Options of a sign-in with either flow. */
export interface DiagnoseAnySignIn {
  /**
   * The client, if you have one; otherwise a registration or `clientMetadataUrl` is
   * used. A client with a secret needs its issuer, because the resource selects the
   * server.
   */
  client?: Client | undefined;
  /** URL of your client metadata document, for servers that accept one. */
  clientMetadataUrl?: string | URL | undefined;
  /** Scopes to request; when absent, the scopes that the resource lists. */
  scopes?: readonly string[] | undefined;
  /** Other parameters of the authorization request. */
  parameters?: Readonly<Record<string, string>> | undefined;
  /**
   * The resource indicator to send, if the server knows the resource by another name;
   * `false` for a server that rejects `resource`. Only the discovered resource receives
   * the token.
   *
   * @default {the resource of the discovery}
   */
  resourceIndicator?: string | URL | false | undefined;
}

/** Options of a sign-in with a browser on this device, as for `codeFlow`. */
export interface DiagnoseCodeSignIn extends DiagnoseAnySignIn {
  /** Redirect URI, or a function that prepares one. */
  redirectUri:
    | string
    | ((request: { isInDocument: boolean }) => string | Promise<string>);
  /** Sends the user to the URL; returns the URL that the user was redirected to. */
  visit: (
    url: URL,
    authorization: Visit,
  ) => Promise<string | URL | URLSearchParams | Request>;
  /** Waits for this sign-in's turn, as for `codeFlow`. */
  turn?:
    | ((
      request: Pick<Visit, "signal">,
    ) => Promise<() => void | Promise<void>>)
    | undefined;
}

/** Options of a sign-in with a browser on another device, as for `deviceFlow`. */
export interface DiagnoseDeviceSignIn extends DiagnoseAnySignIn {
  /** Shows the code and the URL to the user. */
  show: (authorization: DeviceAuthorization) => void | Promise<void>;
  /** Waits for the given milliseconds, or until the signal aborts. */
  delay?:
    | ((milliseconds: number, signal: AbortSignal | undefined) => Promise<void>)
    | undefined;
}

/**
 * How a user signs in: a receiver, such as from `createLoopbackReceiver`, or `show`.
 */
export type DiagnoseSignIn = DiagnoseCodeSignIn | DiagnoseDeviceSignIn;

/** The members of a token response that are not secret. */
export interface DiagnosisToken {
  /** `token_type` of the response. */
  token_type: string;
  /** Scopes in the response. */
  scope?: string;
  /** Seconds until the expiry. */
  expires_in?: number;
  /** Whether the response contained a refresh token. */
  hasRefreshToken: boolean;
  /** Seconds until the expiry of the refresh token, if known. */
  refresh_expires_in?: number;
  /** Whether the response contained an ID token. */
  hasIdToken: boolean;
}

/** The result of a sign-in; a member is absent if its step was not reached. */
export interface DiagnosisSignIn {
  /** The flow. */
  flow: "code" | "device";
  /** The client. */
  client?: {
    /** Its identifier. */
    client_id: string;
    /** Where it comes from. */
    source: "option" | "client_metadata_document" | "registration";
    /**
     * Whether the registered client was deleted; absent if the server does not support
     * that (RFC 7592).
     */
    isDeleted?: boolean;
  };
  /** The scopes that were requested. */
  requestedScopes: string[];
  /** The token of the sign-in. */
  token?: DiagnosisToken;
  /** Status of the call with the token; absent also without a response. */
  callStatus?: number;
  /** The token of the refresh, and whether the refresh token was replaced. */
  refresh?: DiagnosisToken & { isRotated: boolean };
  /**
   * The result of the revocation. `refresh_token_only`: the server revokes no access
   * tokens, so the last one stays valid until it expires. `unsupported`: there is no
   * revocation endpoint. `without_effect`: the server accepted the refresh token after
   * its revocation.
   */
  revocation?:
    | "revoked"
    | "refresh_token_only"
    | "without_effect"
    | "failed"
    | "unsupported";
}
