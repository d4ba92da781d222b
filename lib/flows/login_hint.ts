/**
 * The argument of {@linkcode CibaFlowOptions.getLoginHint}.
 *
 * @category Flows
 */
export interface LoginHintRequest {
  /** Issuer of the authorization server, which prompts the user. */
  issuer: string;
  /** The resource that the token is for. */
  resource: string;
  /** Scopes to request, including the present session's scopes. */
  scopes: string[];
  /** The scopes to request that the present session does not contain. */
  newScopes: string[];
  /** The required authentication context classes (RFC 9470). */
  acrValues?: string | undefined;
  /** Seconds that may have passed since the user's authentication (RFC 9470). */
  maxAge?: number | undefined;
  /** Aborts when no caller waits for the session any more. */
  signal?: AbortSignal | undefined;
}

/**
 * The user, by exactly one of three hints, and the text of the prompt.
 *
 * @category Flows
 */
export interface LoginHint {
  /** Identifies the user, for example by an email address or a telephone number. */
  loginHint?: string | undefined;
  /** A token that identifies the user. */
  loginHintToken?: string | undefined;
  /** An ID token that the server issued to the client for the user. */
  idTokenHint?: string | undefined;
  /** A short plain text that both devices show. */
  bindingMessage?: string | undefined;
}

/**
 * The argument of {@linkcode CibaFlowOptions.show}.
 *
 * @category Flows
 */
export interface BackchannelPrompt {
  /** The text that the other device shows as well. */
  bindingMessage?: string | undefined;
  /** Seconds in which the user has to respond. */
  expiresInSeconds: number;
  /** Seconds between two polls; 5 when absent. */
  intervalSeconds?: number | undefined;
}
