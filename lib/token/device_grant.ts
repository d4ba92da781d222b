import { ALLOW_HTTP } from "../core/_hints.ts";
import { requireNonEmptyString, requireObject } from "../core/_arguments.ts";
import { type Members, numberMember, stringMember } from "../core/_members.ts";
import { printable } from "../core/_quote.ts";
import { rulesFor, urlProblem, withAsciiHost } from "../core/_url.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import type { IAuthorizationDeviceResponse } from "../core/types.ts";
import type { Client } from "../client/known_client.ts";
import type { FormRequestOptions, TokenBodyOptions } from "./form_options.ts";
import { words } from "../http/_error.ts";
import { responseError } from "../http/_response.ts";
import {
  formWithAll,
  requestedOf,
  type RequestedOfAll,
  withFurther,
} from "./_form.ts";
import { postForm, unusableResponse } from "./_form_post.ts";
import { type GrantContext, grantContextOf } from "./_grant_context.ts";
import { type Polled, pollForToken, requireExpiry } from "./_polling.ts";
import { buildDeviceTokenBody } from "./grant_body.ts";
import type { PollOptions } from "./poll_options.ts";
import type { FetchTokenOptions, Token, TokenServer } from "./token.ts";

/** A device authorization response with the expiry of its codes, plain JSON. */
export interface DeviceAuthorization extends IAuthorizationDeviceResponse {
  /** When both codes expire, in seconds since the Unix epoch. */
  expires_at: number;
}

/** Options of {@linkcode fetchDeviceAuthorization}. */
export interface FetchDeviceAuthorizationOptions
  extends FormRequestOptions, TokenBodyOptions {
  /** The client and its credentials; the request must identify the client. */
  client: Client;
  /**
   * Returns the time in milliseconds since the Unix epoch.
   *
   * @default {Date.now}
   */
  now?: (() => number) | undefined;
}

/** A user may have to type the code. A longer code could be the server's message. */
const MAX_CODE_CHARACTERS = 64;

/** Returns undefined if a required member is missing or must not be shown. */
function readCodes(members: Members) {
  const device_code = stringMember(members, "device_code");
  const user_code = stringMember(members, "user_code");
  // Drafts of RFC 8628 and some servers name it `verification_url`.
  const verification_uri = stringMember(members, "verification_uri") ??
    stringMember(members, "verification_url");
  const expires_in = numberMember(members, "expires_in");
  const isShort = user_code !== undefined &&
    user_code.length <= MAX_CODE_CHARACTERS;
  return device_code && isShort && printable(user_code) === user_code &&
      verification_uri && expires_in !== undefined && expires_in > 0
    ? { device_code, user_code, verification_uri, expires_in }
    : undefined;
}

/**
 * Starts a device authorization. Show `user_code` and `verification_uri` to the user,
 * or a QR code of `verification_uri_complete`, then call {@linkcode pollDeviceToken}.
 *
 * @param serverMetadata Metadata with a `device_authorization_endpoint`.
 * @param options The client authentication, scopes, resource, and the options of every
 * request.
 * @throws {OAuthClientError} `unsupported`: no such endpoint. `invalid_response`: a
 * required member is missing, or `user_code` contains control or bidi characters, or
 * more than 64 characters. `url_refused`: the endpoint, or a URL for the user, is
 * neither https nor http on loopback. Other codes as for {@linkcode fetchToken}.
 * @see RFC 8628, sections 3.1 and 3.2.
 *
 * @example Show the code to the user
 * ```ts
 * import { fetchDeviceAuthorization, publicClient } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { user_code, verification_uri } = await fetchDeviceAuthorization(
 *   {
 *     issuer: "https://as.example",
 *     device_authorization_endpoint: "https://as.example/device",
 *   },
 *   {
 *     client: publicClient("c1"),
 *     scopes: ["read"],
 *     // Replaces the server.
 *     fetch: () =>
 *       Promise.resolve(Response.json({
 *         device_code: "d1",
 *         user_code: "WDJB-MJHT",
 *         verification_uri: "https://as.example/activate",
 *         expires_in: 600,
 *       })),
 *   },
 * );
 * console.log(`Open ${verification_uri} and enter ${user_code}`);
 * assertEquals(user_code, "WDJB-MJHT");
 * ```
 *
 * @category Messages of the protocol
 */
export async function fetchDeviceAuthorization(
  serverMetadata: ServerMetadata,
  options: FetchDeviceAuthorizationOptions,
): Promise<DeviceAuthorization> {
  requireObject("options.client", options.client);
  const context = grantContextOf(options);
  const requested = requestedOf(options);
  return await deviceAuthorizationWith(context, serverMetadata, requested);
}

export async function deviceAuthorizationWith(
  context: GrantContext,
  serverMetadata: ServerMetadata,
  requested: RequestedOfAll,
): Promise<DeviceAuthorization> {
  const { now, allowHttp } = context;
  const { members, response } = await postForm(
    context,
    serverMetadata,
    "device_authorization_endpoint",
    formWithAll({}, requested),
  );
  const codes = readCodes(members);
  if (!codes) {
    const problem =
      words`has no usable device_code, user_code, verification_uri or expires_in`;
    throw unusableResponse(context, response, "Device authorization", problem);
  }
  const complete = stringMember(members, "verification_uri_complete");
  const rules = rulesFor(serverMetadata.issuer, allowHttp);
  const isRefused = [codes.verification_uri, complete].some((url) =>
    url && urlProblem(url, rules)
  );
  if (isRefused) {
    throw responseError(
      context,
      response,
      "url_refused",
      words`Refusing the verification_uri of the device authorization response: \
it must be an https URL, or http on loopback${[ALLOW_HTTP]}`,
    );
  }
  const interval = numberMember(members, "interval");
  return {
    ...codes,
    verification_uri: withAsciiHost(codes.verification_uri),
    expires_at: Math.floor(now() / 1000 + codes.expires_in),
    ...(complete && { verification_uri_complete: withAsciiHost(complete) }),
    ...(interval !== undefined && { interval }),
  };
}

/** Options of {@linkcode pollDeviceToken}. */
export interface PollDeviceTokenOptions
  extends FetchTokenOptions, TokenBodyOptions, PollOptions {}

/**
 * Polls for the token until the user has signed in.
 *
 * Waits `interval` seconds before each poll; every `slow_down` adds 5 seconds. Failures
 * with the advice `retry`, such as a network error, 5xx or 429, double the wait, up to
 * 60 seconds, until a poll succeeds. The `Retry-After` of a 429 or 503 is obeyed, up to
 * an hour; if the codes expire earlier, the error is thrown. The `Retry-After` of a
 * pending response is obeyed once, up to a last poll before the expiry.
 *
 * @param serverMetadata Metadata with a `token_endpoint`.
 * @param authorization The result of {@linkcode fetchDeviceAuthorization}.
 * @param options The same client authentication; `signal` stops polling at once.
 * @throws {OAuthClientError} `expired`: the codes have expired. `oauth_error`: the
 * server rejected the request, with `access_denied` if the user declined. Other codes
 * as for {@linkcode fetchToken}.
 * @see RFC 8628, sections 3.3 to 3.5.
 *
 * @example Poll until the user has finished
 * ```ts
 * import { pollDeviceToken, publicClient } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const responses = [
 *   Response.json({ error: "authorization_pending" }, { status: 400 }),
 *   Response.json({ access_token: "t0ken", token_type: "Bearer" }),
 * ];
 * const token = await pollDeviceToken(
 *   { issuer: "https://as.example", token_endpoint: "https://as.example/token" },
 *   {
 *     device_code: "d1",
 *     user_code: "WDJB-MJHT",
 *     verification_uri: "https://as.example/activate",
 *     expires_in: 600,
 *     expires_at: Math.floor(Date.now() / 1000) + 600,
 *   },
 *   {
 *     client: publicClient("c1"),
 *     onPending: ({ remainingSeconds }) =>
 *       console.log(`${remainingSeconds} s left`),
 *     // These replace the server and the timer.
 *     fetch: () => Promise.resolve(responses.shift()!),
 *     delay: () => Promise.resolve(),
 *   },
 * );
 * assertEquals(token.access_token, "t0ken");
 * ```
 *
 * @category Messages of the protocol
 */
export async function pollDeviceToken(
  serverMetadata: ServerMetadata,
  authorization: DeviceAuthorization,
  options: PollDeviceTokenOptions,
): Promise<Token> {
  const { onPending, delay } = options;
  return await pollWith(
    grantContextOf(options),
    serverMetadata,
    authorization,
    { requested: requestedOf(options), onPending, delay },
  );
}

export async function pollWith(
  context: GrantContext,
  serverMetadata: TokenServer,
  authorization: DeviceAuthorization,
  { onPending, delay, requested, further }: Polled,
): Promise<Token> {
  const { device_code, expires_at, interval } = authorization;
  requireExpiry("authorization.expires_at", expires_at);
  const deviceCode = requireNonEmptyString("device_code", device_code);
  const form = buildDeviceTokenBody({ ...requested, deviceCode });
  const body = withFurther(form, further);
  return await pollForToken(context, serverMetadata, body, {
    expires_at,
    interval,
    onPending,
    delay,
    expiry: words`The device code of ${{
      url: serverMetadata.issuer,
    }} expired before the user had signed in`,
  });
}
