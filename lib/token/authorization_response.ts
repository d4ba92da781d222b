import {
  requireArgument,
  requireNonEmptyString,
  requireString,
} from "../core/_arguments.ts";
import {
  hintsFor,
  MISSING_ISS,
  OTHER_ISSUER,
  RESOURCE_HINT,
} from "../core/_hints.ts";
import { printableWithout } from "../core/_quote.ts";
import { parseUrl, withoutLoopbackPort } from "../core/_url.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import type { IAuthorizationAuthorizeResponse } from "../core/types.ts";
import { errorMembers, errorWords } from "../client/_error_members.ts";
import { type Context, secretsIn } from "../http/_context.ts";
import { errorOf, type Message, words } from "../http/_error.ts";

/**
 * The values stored with the authorization request.
 *
 * @category Messages of the protocol
 */
export interface ExpectedAuthorizationResponse {
  /** The `state` of the request. */
  state: string;
  /** Metadata of the server that the user was redirected to. */
  serverMetadata: ServerMetadata;
  /**
   * Another issuer that the response may contain: `responseIssuer` of the discovery.
   */
  responseIssuer?: string | undefined;
  /** Rejects a response without `iss` even if the server does not announce it. */
  requireIss?: boolean | undefined;
  /**
   * The redirect URI of the request. The response must arrive at its path and keep its
   * query. A string or `URL` callback must also match its origin; a proxy may have
   * changed a `Request`'s origin. The port of a loopback URI does not count.
   */
  redirectUri?: string | URL | undefined;
  /** The `prompt` of the request. */
  prompt?: string | undefined;
  /** The `resource` of the request. */
  resource?: string | false | undefined;
}

/**
 * A server that announces `iss` must send it; other servers may (RFC 9207, section
 * 2.4).
 */
function requireIssuer(
  context: Pick<Context, "sent">,
  { iss }: Readonly<Record<string, string>>,
  { serverMetadata, responseIssuer, requireIss }: ExpectedAuthorizationResponse,
): void {
  const { issuer, ...metadata } = serverMetadata;
  // Some servers publish "true". Only false means unsupported.
  const isAnnounced =
    (metadata.authorization_response_iss_parameter_supported ?? false) !==
      false;
  const isExpected = iss === undefined
    ? !isAnnounced && !requireIss
    : iss === issuer || iss === responseIssuer;
  if (isExpected) return;
  const shown = printableWithout(secretsIn(context), iss);
  const named = shown === undefined
    ? words`another issuer`
    : words`"${{ url: shown }}"`;
  const problem = iss === undefined
    ? isAnnounced
      ? words`missing, although its metadata promises it${[MISSING_ISS]}`
      : "missing"
    : words`${named}${[OTHER_ISSUER]}`;
  throw errorOf(
    context,
    "issuer_mismatch",
    words`Authorization response is not from ${{
      url: issuer,
    }}: its iss is ${problem}`,
  );
}

/** The forms of an authorization response. */
type Callback = string | URL | URLSearchParams | Request;

export function responseParametersOf(source: Callback): URLSearchParams {
  if (source instanceof URLSearchParams) return source;
  if (source instanceof URL) return source.searchParams;
  const { url, method } = Object(source) as { url?: string; method?: string };
  const text = requireString("callback", url ?? source);
  const query = parseUrl(text)?.search ??
    // A path with a query, or only a query. Values may contain question marks.
    text.replace(/^[^?=#&]*\?/, "").replace(/#.*/s, "");
  const parameters = new URLSearchParams(query);
  requireArgument(
    method !== "POST" || parameters.has("state"),
    "callback",
    "new URLSearchParams(await request.text()) for a POST",
  );
  return parameters;
}

/**
 * Returns the actual and the expected URL: only paths, unless the whole URL is known.
 * Returns undefined for a bare query.
 */
function arrivalOf(
  source: Callback,
  redirectUri: string,
): [actual: string, expected: string] | undefined {
  const { url } = Object(source) as { url?: string };
  const text = source instanceof URL ? source.href : url ?? source;
  if (typeof text !== "string") return undefined;
  const isPath = text.startsWith("/");
  const actual = parseUrl(text, isPath ? redirectUri : undefined);
  const expected = parseUrl(redirectUri);
  if (!actual || !expected) return undefined;
  // The origin of a custom scheme is opaque.
  const whole = ({ protocol, host, pathname }: URL) =>
    withoutLoopbackPort(`${protocol}//${host}${pathname}`);
  return isPath || url !== undefined
    ? [actual.pathname, expected.pathname]
    : [whole(actual), whole(expected)];
}

/**
 * Returns why a response did not arrive at the redirect URI. With one URI for each
 * issuer, this detects mix-up attacks (RFC 9700, section 4.4.2.2).
 */
function arrivalProblem(
  source: Callback,
  redirectUri: string | URL | undefined,
): Message | undefined {
  if (redirectUri === undefined) return undefined;
  const [actual, expected] = arrivalOf(source, String(redirectUri)) ?? [];
  if (actual !== expected) {
    return words`arrived at ${{ url: actual }}: expected ${{ url: expected }}`;
  }
  // A POST carries the parameters in its body.
  const { url = source } = Object(source) as { url?: string };
  const received = responseParametersOf(url);
  // Servers must keep the query (RFC 6749, section 3.1.2). Some proxies do not.
  const isOther = [...parseUrl(String(redirectUri))?.searchParams ?? []]
    .some(([name, value]) => (received.get(name) ?? value) !== value);
  return isOther
    ? words`arrived with another query than the redirect URI has`
    : undefined;
}

/**
 * Parses the authorization response: the URL to which the user was redirected.
 *
 * Checks in this order: no parameter is repeated; `state` matches; the response arrived
 * at the redirect URI, if given; `iss` equals the issuer; there is no `error`. After a
 * failed check, the parameters are neither used nor put into the error, except for the
 * `iss` of another issuer.
 *
 * @param callback The URL or its query, or the request that a server received. For a
 * `POST` (`response_mode=form_post`), pass `new URLSearchParams(await request.text())`:
 * only {@linkcode finishAuthorization} reads the body itself.
 * @param expected The values stored with the authorization request.
 * @returns `code` for the token request, and `state`.
 * @throws {OAuthClientError} `invalid_authorization_response`: a parameter is repeated,
 * `state` differs, the response arrived at another URL, or there is neither `code` nor
 * `error`. `issuer_mismatch`: `iss` is wrong or missing. `oauth_error`: the server
 * rejected the request or the user declined; see `error`, `error_description`,
 * `error_uri`. `invalid_argument`: the callback has another type, or is a `POST`.
 * @see RFC 6749, sections 4.1.2 and 10.12; RFC 9207, section 2.4.
 *
 * @example Read the code from the callback
 * ```ts
 * import { parseAuthorizationResponse } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { code } = parseAuthorizationResponse(
 *   "http://127.0.0.1:8123/callback?code=c0de&state=s1&iss=https://as.example",
 *   { state: "s1", serverMetadata: { issuer: "https://as.example" } },
 * );
 * assertEquals(code, "c0de");
 * ```
 *
 * @category Messages of the protocol
 */
export function parseAuthorizationResponse(
  callback: string | URL | URLSearchParams | Request,
  expected: ExpectedAuthorizationResponse,
): IAuthorizationAuthorizeResponse {
  return parseWith({ sent: [] }, callback, expected);
}

export function parseWith(
  { sent }: Pick<Context, "sent">,
  callback: Callback,
  expected: ExpectedAuthorizationResponse,
): IAuthorizationAuthorizeResponse {
  const { serverMetadata } = expected;
  requireNonEmptyString("expected.state", expected.state);
  const { issuer } = serverMetadata;
  requireNonEmptyString("serverMetadata.issuer", issuer);
  const parameters = [...responseParametersOf(callback)];
  const members: Record<string, string> = Object.fromEntries(parameters);
  const { state, code } = members;
  // The server knows both, and could repeat them.
  const context = { sent: [...sent, expected.state, code ?? ""] };
  const invalid = (problem: Message) =>
    errorOf(
      context,
      "invalid_authorization_response",
      words`Authorization response ${problem}`,
    );
  if (Object.keys(members).length < parameters.length) {
    throw invalid(words`has a repeated parameter`);
  }
  if (state !== expected.state) {
    throw invalid(
      state
        ? words`has another state, such as from an older tab: start again`
        : words`has no state`,
    );
  }
  const arrival = arrivalProblem(callback, expected.redirectUri);
  if (arrival) throw invalid(arrival);
  requireIssuer(context, members, expected);
  if (members.error) {
    const details = errorMembers(members, secretsIn(context));
    const hints = hintsFor(details.error ?? "", [
      [["invalid_target"], Boolean(expected.resource), RESOURCE_HINT],
    ]);
    throw errorOf(
      context,
      "oauth_error",
      words`Authorization at ${{ url: issuer }} failed: ${
        errorWords(details)
      }${hints}`,
      {
        ...details,
        request: expected.prompt === "none"
          ? "silent_authorization"
          : undefined,
      },
    );
  }
  if (!code) throw invalid(words`has neither code nor error`);
  return { code, state };
}
