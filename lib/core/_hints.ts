/** Which option may help after a failure, by the purpose of a request and its error. */

import {
  type Hint,
  OAuthClientError,
  type OAuthClientErrorCode,
  type OAuthClientErrorDetails,
} from "./errors.ts";

function hintWords(hints: readonly Hint[] = []): string {
  return hints.map(({ text }) => ` (${text})`).join("");
}

export function hinted(
  code: OAuthClientErrorCode,
  problem: string,
  hints: readonly Hint[],
  details?: OAuthClientErrorDetails,
): OAuthClientError {
  return new OAuthClientError(code, problem + hintWords(hints), {
    ...details,
    hints: hints[0] && hints,
  });
}

export function withoutHints(
  { message, hints }: Error & Pick<OAuthClientError, "hints">,
): string {
  return message.slice(0, message.length - hintWords(hints).length);
}

/** The error of a response with status 4xx and without an error code. */
export const BARE_ERROR = "bare_error";
/** The same, where the server has rejected the client and returned no body. */
export const BARE_REFUSAL = "bare_refusal";

/**
 * An option that may help: the error codes of servers (the two above, or "" for no
 * code), and whether it applies to the request.
 */
export type HintRule = readonly [
  errors: readonly string[],
  applies: boolean,
  hint: Hint,
];

export const ALLOW_HTTP: Hint = {
  option: "allowHttp",
  value: true,
  text: "set allowHttp to allow it",
};

export const RESOURCE_HINT: Hint = {
  option: "resourceIndicator",
  value: false,
  text:
    "if the server rejects the parameter resource, set resourceIndicator: false",
};

export const DPOP: Hint = { option: "dpop", text: "set dpop" };

const SCOPES: HintRule = [
  ["invalid_scope"],
  true,
  {
    option: "scopes",
    text: "set scopes, or scope in clientMetadata to register more",
  },
];

/** Returns the standard code for GitHub's own code. */
export function standardCode<Code extends string | undefined>(
  error: Code,
): Code | "invalid_client" {
  return error === "incorrect_client_credentials" ? "invalid_client" : error;
}

export function hintsFor(error: string, rules: readonly HintRule[]): Hint[] {
  const code = standardCode(error);
  return [...rules, SCOPES]
    .filter(([errors, applies]) => applies && errors.includes(code))
    .map(([, , hint]) => hint);
}

const REGISTRATION: Hint = {
  option: "clientMetadata",
  text: "set clientMetadata to register one",
};

const DOCUMENT: Hint = {
  option: "clientMetadataUrl",
  text: "the server accepts client metadata documents: set clientMetadataUrl",
};

const CLIENT: Hint = {
  option: "client",
  text: "set client to an existing client",
};

export function clientHints(
  hasRegistration: boolean,
  acceptsDocuments: boolean,
): Hint[] {
  return [
    hasRegistration ? REGISTRATION : [],
    acceptsDocuments ? DOCUMENT : [],
    CLIENT,
  ].flat();
}

const FROM_DOCS = "set serverMetadata from its docs, or authorizationServer";

export const UNPUBLISHED: Hint = {
  option: "serverMetadata",
  text: FROM_DOCS,
};

export const guessHint = (what: "URL" | "server"): Hint => ({
  option: "serverMetadata",
  text: `this ${what} is a guess, because no metadata was found: ${FROM_DOCS}`,
});

/** For a resource with several servers, if the first publishes no metadata. */
export const OTHER_SERVERS: Hint = {
  option: "authorizationServer",
  text: "the resource lists other servers: set authorizationServer",
};

/** For a member that metadata omits, although the server may support it. */
export const UNLISTED: Hint = {
  option: "serverMetadata",
  text: "set serverMetadata if its docs differ",
};

export function registrationHint(
  status: number,
  isAssumed: boolean | undefined,
  hasToken: boolean,
): Hint[] {
  if (isAssumed) return [guessHint("URL")];
  if (status === 404) {
    return [{
      option: "client",
      text: `the server may not support registration: ${CLIENT.text}`,
    }];
  }
  if (status !== 401 && status !== 403) return [];
  return [{
    option: "initialAccessToken",
    text: hasToken
      ? "initialAccessToken may have expired, or may be used up"
      : "the server may require an initial access token: set initialAccessToken",
  }];
}

/** For an issuer other than expected (RFC 8414, section 6.2; RFC 9207). */
export const OTHER_ISSUER: Hint = {
  option: "trustedIssuers",
  text: "this could be an attack: set trustedIssuers only if both are the " +
    "same server",
};

/** For a server that promises `iss` and does not send it (RFC 9207). */
export const MISSING_ISS: Hint = {
  option: "serverMetadata",
  text: "only if no response has it, set serverMetadata without " +
    "authorization_response_iss_parameter_supported",
};

export const RECEIVER = "(spread createLoopbackReceiver())";
