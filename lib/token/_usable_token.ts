import {
  GRANT_TYPE_TOKEN_EXCHANGE,
  TOKEN_TYPE_ACCESS_TOKEN,
} from "../core/constants.ts";
import { DPOP } from "../core/_hints.ts";
import type { IAuthorizationTokenResponse } from "../core/types.ts";
import { literal, type Message, words } from "../http/_error.ts";

/** A header field can contain such a token (RFC 6749, appendix A.12). */
export function isSendable(accessToken: string): boolean {
  return /^[\x21-\x7e]*$/.test(accessToken);
}

/** Returns why a token must not be used (RFC 6749, section 7.1). */
export function tokenProblem(
  token: IAuthorizationTokenResponse & { issued_token_type?: unknown },
  form: URLSearchParams,
  isBound: boolean,
): Message | undefined {
  const { access_token, token_type, issued_token_type } = token;
  const isAccessToken = !issued_token_type ||
    issued_token_type === TOKEN_TYPE_ACCESS_TOKEN;
  const type = token_type.toLowerCase();
  const isExchange = form.get("grant_type") === GRANT_TYPE_TOKEN_EXCHANGE;
  // The type of a token that is not an access token (RFC 8693, section 2.2.1). After
  // any other grant, a session would use the token.
  if (type === "n_a" && !isAccessToken && isExchange) return undefined;
  if (!isSendable(access_token)) {
    return words`has an access_token that no header field can hold`;
  }
  // Without the binding, anyone who obtains the token could use it (RFC 9449, section
  // 5).
  const expected = isBound ? "DPoP" : "Bearer";
  if (type === expected.toLowerCase()) return undefined;
  // A longer value could be a secret.
  const got = type.length < 8 ? token_type : "another one";
  const hint = type === "dpop"
    ? [DPOP]
    : /^(bot|user)$/.test(type)
    ? literal(" (for Slack, see providers/slack.md)")
    : "";
  return words`has a token of a type that is not used: expected ${expected}, \
got ${got}${hint}`;
}
