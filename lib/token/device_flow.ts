/**
 * The device authorization grant (RFC 8628): the user signs in on another
 * device, while this one asks whether it is done.
 *
 * @module
 */

import {
  requireArgument,
  requireObject,
  requireText,
} from "../core/_arguments.ts";
import { requireSafeUrl } from "../core/_endpoint.ts";
import { postForm, secondsMember, textMember } from "./_form_request.ts";
import type { IFormRequestOptions } from "../client/authentication.ts";
import { LONGEST_TIMER_MS } from "../http/_request.ts";
import { quoteServerText } from "../http/_response.ts";
import { OAuthClientError } from "../core/errors.ts";
import { formWith } from "./_form.ts";
import { buildDeviceTokenBody, type ITokenBodyOptions } from "./grant_body.ts";
import {
  fetchToken,
  type IFetchTokenOptions,
  type IToken,
} from "./token_request.ts";
import type {
  IAuthorizationDeviceResponse,
  IAuthorizationServerMetadata,
} from "../core/types.ts";

const DEFAULT_INTERVAL = 5;
const SLOW_DOWN_INCREMENT = 5;
/** Less than that, and a server would be polled without a break. */
const LEAST_INTERVAL = 0.1;
/** Errors about the grant itself, which count at whatever status. */
const GRANT_ERRORS = [
  "access_denied",
  "authorization_pending",
  "expired_token",
  "invalid_client",
  "invalid_grant",
  "slow_down",
];

/** A device authorization endpoint's answer, with the end of its codes. */
export interface IDeviceAuthorization extends IAuthorizationDeviceResponse {
  /** When both codes expire, in seconds since the Unix epoch. */
  expires_at: number;
}

/** Options of {@linkcode fetchDeviceAuthorization}. */
export interface IFetchDeviceAuthorizationOptions
  extends IFormRequestOptions, ITokenBodyOptions {
  /** The time in milliseconds since the Unix epoch; `Date.now` when absent. */
  now?: (() => number) | undefined;
}

/**
 * Starts a device authorization. Show the user `user_code` and
 * `verification_uri`, or a QR code of `verification_uri_complete`, then call
 * {@linkcode pollDeviceToken}.
 *
 * @param serverMetadata The server with its `device_authorization_endpoint`.
 * @param options The client's authentication, scopes, resource, and what every
 * request takes.
 * @throws {OAuthClientError} `unsupported`: no such endpoint.
 * `invalid_response`: a required member is missing. `url_refused`: the endpoint,
 * or an address that the user would be sent to, is not https, nor http on
 * loopback. Else as {@linkcode fetchToken}.
 * @see RFC 8628, sections 3.1 and 3.2.
 *
 * @example Ask for a code to show
 * ```ts
 * import { fetchDeviceAuthorization, publicClient } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { user_code } = await fetchDeviceAuthorization(
 *   {
 *     issuer: "https://as.example",
 *     device_authorization_endpoint: "https://as.example/device",
 *     response_types_supported: [],
 *   },
 *   {
 *     client: publicClient("c1"),
 *     scopes: ["read"],
 *     // Stands in for the server.
 *     fetch: () =>
 *       Promise.resolve(Response.json({
 *         device_code: "d1",
 *         user_code: "WDJB-MJHT",
 *         verification_uri: "https://as.example/activate",
 *         expires_in: 600,
 *       })),
 *   },
 * );
 * assertEquals(user_code, "WDJB-MJHT");
 * ```
 */
export async function fetchDeviceAuthorization(
  serverMetadata: IAuthorizationServerMetadata,
  options: IFetchDeviceAuthorizationOptions,
): Promise<IDeviceAuthorization> {
  const { now = Date.now, scopes, resource, parameters, ...formOptions } =
    requireObject("options", options);
  const body = formWith([], { resource, scopes, parameters });
  return await postForm(
    serverMetadata,
    "device_authorization_endpoint",
    body,
    formOptions,
    (members, reply, url) => {
      const expires_in = secondsMember(members, "expires_in");
      const device_code = textMember(members, "device_code");
      const user_code = textMember(members, "user_code");
      // Drafts of the standard, and Google to this day, spell it with `url`.
      const verification_uri = textMember(members, "verification_uri") ??
        textMember(members, "verification_url");
      if (!device_code || !user_code || !verification_uri || !expires_in) {
        throw reply.error(
          "invalid_response",
          `The reply of ${
            quoteServerText(url)
          } lacks device_code, user_code, ` +
            "verification_uri or expires_in",
        );
      }
      const complete = textMember(members, "verification_uri_complete");
      const { allowHttp } = formOptions;
      const addresses = {
        verification_uri,
        verification_uri_complete: complete,
      };
      for (const [name, address] of Object.entries(addresses)) {
        if (!address) continue;
        try {
          requireSafeUrl(`The ${name}`, address, allowHttp);
        } catch (failure) {
          throw reply.error("url_refused", (failure as Error).message);
        }
      }
      const interval = secondsMember(members, "interval");
      return {
        device_code,
        user_code,
        verification_uri,
        ...(complete && { verification_uri_complete: complete }),
        expires_in,
        expires_at: Math.floor(now() / 1000 + expires_in),
        ...(interval !== undefined && { interval }),
      };
    },
  );
}

/** What {@linkcode IPollDeviceTokenOptions.onPending} is told. */
export interface IDevicePollProgress {
  /** Polls made so far. */
  polls: number;
  /** Seconds until the next poll. */
  interval: number;
  /** Seconds until the codes expire. */
  remaining: number;
  /** The failure of the last poll, when it was one of the network. */
  error?: OAuthClientError;
}

/** Options of {@linkcode pollDeviceToken}. */
export interface IPollDeviceTokenOptions
  extends IFetchTokenOptions, ITokenBodyOptions {
  /** Called after every poll that found the user not done yet. */
  onPending?: ((progress: IDevicePollProgress) => void) | undefined;
  /** Waits so many milliseconds, or until the signal aborts. */
  delay?:
    | ((milliseconds: number, signal: AbortSignal | undefined) => Promise<void>)
    | undefined;
}

async function defaultDelay(
  milliseconds: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  const done = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(resolve, Math.min(milliseconds, LONGEST_TIMER_MS));
      signal?.addEventListener("abort", () => reject(signal.reason), {
        signal: done.signal,
      });
    });
  } finally {
    clearTimeout(timer);
    done.abort();
  }
}

/** Whether a failure says nothing about the grant, only about the way there. */
function isTransient(
  { code, status = 0, error = "" }: OAuthClientError,
): boolean {
  return code === "network_error" || code === "timeout" ||
    ((status >= 500 || status === 429) && !GRANT_ERRORS.includes(error));
}

/**
 * Polls until the user has signed in.
 *
 * Waits before each poll: `interval` seconds, 5 when the server names none. Every
 * `slow_down` makes it 5 seconds more for good. A poll that fails on the way, by
 * a lost connection, a status of 5xx or 429, doubles the wait until one gets
 * through.
 *
 * @param serverMetadata The server with its `token_endpoint`.
 * @param authorization From {@linkcode fetchDeviceAuthorization}.
 * @param options The same client authentication; `signal` ends the waiting at
 * once.
 * @throws {OAuthClientError} `expired`: the codes have expired. `server_error`:
 * the server ended it, with `access_denied` when the user said no. Else as
 * {@linkcode fetchToken}.
 * @see RFC 8628, sections 3.3 to 3.5.
 *
 * @example The user needs a moment
 * ```ts
 * import { pollDeviceToken, publicClient } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const answers = [
 *   Response.json({ error: "authorization_pending" }, { status: 400 }),
 *   Response.json({ access_token: "t0ken", token_type: "Bearer" }),
 * ];
 * const token = await pollDeviceToken(
 *   {
 *     issuer: "https://as.example",
 *     token_endpoint: "https://as.example/token",
 *     response_types_supported: [],
 *   },
 *   {
 *     device_code: "d1",
 *     user_code: "WDJB-MJHT",
 *     verification_uri: "https://as.example/activate",
 *     expires_in: 600,
 *     expires_at: Math.floor(Date.now() / 1000) + 600,
 *   },
 *   {
 *     client: publicClient("c1"),
 *     onPending: ({ remaining }) => console.log(`${remaining} s left`),
 *     // These stand in for the server and for the time.
 *     fetch: () => Promise.resolve(answers.shift()!),
 *     delay: () => Promise.resolve(),
 *   },
 * );
 * assertEquals(token.access_token, "t0ken");
 * ```
 */
export async function pollDeviceToken(
  serverMetadata: IAuthorizationServerMetadata,
  authorization: IDeviceAuthorization,
  options: IPollDeviceTokenOptions,
): Promise<IToken> {
  const {
    onPending,
    delay = defaultDelay,
    resource,
    scopes,
    parameters,
    ...rest
  } = requireObject("options", options);
  requireObject("serverMetadata", serverMetadata);
  const { device_code, expires_at } = requireObject(
    "authorization",
    authorization,
  );
  requireArgument(
    Number.isFinite(expires_at),
    "authorization.expires_at",
    "a number of seconds",
  );
  const body = buildDeviceTokenBody({
    deviceCode: requireText("device_code", device_code),
    resource,
    scopes,
    parameters,
  });
  const { signal, now = Date.now } = rest;
  const remaining = () => expires_at - now() / 1000;
  const expired = (cause?: OAuthClientError) =>
    new OAuthClientError(
      "expired",
      `The device code of ${serverMetadata.issuer} expired before the user ` +
        "had signed in",
      cause && { cause, error: cause.error },
    );
  const asked: unknown = authorization.interval;
  let interval = typeof asked === "number" && asked > 0
    ? Math.max(asked, LEAST_INTERVAL)
    : DEFAULT_INTERVAL;
  let wait = interval;
  for (let polls = 1;; polls++) {
    const left = remaining();
    if (left <= 0) throw expired();
    await delay(Math.min(wait, left) * 1000, signal);
    signal?.throwIfAborted();
    // A poll before its time would only be told to slow down.
    if (left < wait) throw expired();
    try {
      return await fetchToken(serverMetadata, body, rest);
    } catch (failure) {
      if (!(failure instanceof OAuthClientError)) throw failure;
      const { error } = failure;
      if (error === "expired_token") throw expired(failure);
      if (error === "slow_down") interval += SLOW_DOWN_INCREMENT;
      const isLost = isTransient(failure);
      if (
        !isLost && error !== "authorization_pending" && error !== "slow_down"
      ) {
        throw failure;
      }
      wait = isLost
        ? Math.max(interval, Math.min(wait * 2, remaining()))
        : interval;
      onPending?.({
        polls,
        interval: wait,
        remaining: Math.max(0, Math.floor(remaining())),
        ...(isLost && { error: failure }),
      });
    }
  }
}
