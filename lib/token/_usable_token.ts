/** Whether an access token can be used for requests. */

import { quote } from "../core/_quote.ts";
import { TOKEN_TYPE_ACCESS_TOKEN } from "../core/constants.ts";
import type { IAuthorizationTokenResponse } from "../core/types.ts";

/** Checks whether a token can be a part of a header field (RFC 6749, appendix A.12). */
export function isSendable(accessToken: string): boolean {
  return /^[\x21-\x7e]+$/.test(accessToken);
}

/** Checks whether a token is something else, of the type `N_A` (RFC 8693, section 2.2.1). */
function isNoAccessToken(tokenType: string, issuedType: unknown): boolean {
  const issued = issuedType || TOKEN_TYPE_ACCESS_TOKEN;
  return /^n_a$/i.test(tokenType) && issued !== TOKEN_TYPE_ACCESS_TOKEN;
}

/** Returns why a token must not be used (RFC 6749, section 7.1); undefined if it may be. */
export function problemOf(
  token: IAuthorizationTokenResponse & { issued_token_type?: unknown },
  isBound: boolean,
): string | undefined {
  const { access_token, token_type, issued_token_type } = token;
  if (isNoAccessToken(token_type, issued_token_type)) return undefined;
  if (!isSendable(access_token)) {
    return "has an access_token that no header field can hold";
  }
  const isDpop = /^dpop$/i.test(token_type);
  // Without the binding, anyone who obtains the token could use it (RFC 9449,
  // section 5).
  if (isBound) {
    return isDpop ? undefined : "has a token that is not bound to the DPoP key";
  }
  if (isDpop) return "has a token that is bound to a DPoP key (set dpop)";
  if (/^bearer$/i.test(token_type)) return undefined;
  // A longer one could be a secret.
  const shown = token_type.length < 8 ? quote(token_type) : "another one";
  return `has a token_type that is not supported: expected Bearer, got ${shown}`;
}
