import {
  optionalString,
  requireArgument,
  requireObject,
  requireStrings,
} from "../core/_arguments.ts";
import { numberMember, stringMember } from "../core/_members.ts";
import { requireEndpoint } from "../core/_url.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import { mergeScopes } from "../core/scopes.ts";
import type { Client } from "../client/known_client.ts";
import type { Context } from "../http/_context.ts";
import { errorOf, words } from "../http/_error.ts";
import { formWith, type Requested, requestedOf } from "./_form.ts";
import { postForm, unusableResponse } from "./_form_post.ts";
import { type GrantContext, grantContextOf } from "./_grant_context.ts";
import type { FormRequestOptions, TokenBodyOptions } from "./form_options.ts";

/** An authentication request that the server has accepted, plain JSON. */
export interface BackchannelAuthentication {
  /** Identifies the request. It is a secret for polling. */
  auth_req_id: string;
  /** Lifetime of the request in seconds. */
  expires_in: number;
  /** When the request expires, in seconds since the Unix epoch. */
  expires_at: number;
  /** Seconds between two polls; 5 when absent. */
  interval?: number | undefined;
}

type BackchannelServer = ServerMetadata;

/** Options of {@linkcode requestBackchannelAuthentication}. */
export interface RequestBackchannelAuthenticationOptions
  extends FormRequestOptions, TokenBodyOptions {
  /**
   * The client and its credentials. The server must have registered it for this grant.
   */
  client: Client;
  /** Identifies the user, for example by an email address or a telephone number. */
  loginHint?: string | undefined;
  /** A token that identifies the user. */
  loginHintToken?: string | undefined;
  /** An ID token that the server issued to the client for the user. */
  idTokenHint?: string | undefined;
  /**
   * A short plain text that both devices show, such as the purpose of the request.
   * Servers may limit its length and characters.
   */
  bindingMessage?: string | undefined;
  /**
   * Authentication context classes in order of preference: an array, or a string
   * separated by spaces.
   */
  acrValues?: string | readonly string[] | undefined;
  /** Requested lifetime in seconds; a positive integer. */
  requestedExpirySeconds?: number | undefined;
  /**
   * Returns the time in milliseconds since the Unix epoch.
   *
   * @default {Date.now}
   */
  now?: (() => number) | undefined;
}

/** The part of an authentication request that concerns the user. */
export type Asked = Pick<
  RequestBackchannelAuthenticationOptions,
  | "loginHint"
  | "loginHintToken"
  | "idTokenHint"
  | "bindingMessage"
  | "acrValues"
  | "requestedExpirySeconds"
>;

/** Requires the endpoint and the poll mode. */
export function requirePollMode(
  context: Context,
  serverMetadata: BackchannelServer,
): void {
  const endpoint = "backchannel_authentication_endpoint";
  requireEndpoint(serverMetadata, endpoint, context.allowHttp);
  const { issuer, backchannel_token_delivery_modes_supported: modes } =
    serverMetadata;
  if (Array.isArray(modes) && modes.includes("poll")) return;
  throw errorOf(
    context,
    "unsupported",
    words`Authorization server ${{
      url: issuer,
    }} does not list the mode poll: \
backchannel_token_delivery_modes_supported is ${{ json: modes ?? "missing" }}`,
  );
}

/** Fails unless there is exactly one hint. */
function parametersOf(
  { acrValues, requestedExpirySeconds: expiry, ...asked }: Asked,
): Record<string, string | undefined> {
  const hints = {
    login_hint: optionalString("loginHint", asked.loginHint),
    login_hint_token: optionalString("loginHintToken", asked.loginHintToken),
    id_token_hint: optionalString("idTokenHint", asked.idTokenHint),
  };
  requireArgument(
    Object.values(hints).filter(Boolean).length === 1,
    "options",
    "an object with exactly one of loginHint, loginHintToken and idTokenHint",
  );
  requireArgument(
    expiry === undefined || (Number.isSafeInteger(expiry) && expiry > 0),
    "requestedExpirySeconds",
    "a positive integer",
  );
  const acr = typeof acrValues === "string"
    ? acrValues
    : requireStrings("acrValues", acrValues ?? []).join(" ");
  return {
    ...hints,
    binding_message: optionalString("bindingMessage", asked.bindingMessage),
    acr_values: acr || undefined,
    requested_expiry: expiry?.toString(),
  };
}

/**
 * Requests that the server authenticates a user on another device, such as a telephone,
 * and obtains consent. Call {@linkcode pollBackchannelToken} with the result.
 *
 * Exactly one hint identifies the user. The scope `openid` is always requested.
 *
 * @param serverMetadata Metadata with a `backchannel_authentication_endpoint`, and with
 * `poll` in `backchannel_token_delivery_modes_supported`.
 * @param options The client authentication, the hint, the requested access, and the
 * options of every request. If the server requires a user code, set
 * `parameters: { user_code }`.
 * @throws {OAuthClientError} `unsupported`: the server lacks the endpoint or the poll
 * mode; nothing was sent. `invalid_argument`: not exactly one hint. `invalid_response`:
 * `auth_req_id` or `expires_in` is missing. `oauth_error`: for example
 * `unknown_user_id` or `invalid_binding_message`. Other codes as for
 * {@linkcode fetchToken}.
 * @see OpenID Connect CIBA Core 1.0, sections 7.1, 7.3 and 13.
 *
 * @example Request a user's consent to a payment
 * ```ts
 * import {
 *   clientSecretBasic,
 *   requestBackchannelAuthentication,
 * } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { auth_req_id } = await requestBackchannelAuthentication(
 *   {
 *     issuer: "https://as.example",
 *     backchannel_authentication_endpoint: "https://as.example/bc-authorize",
 *     backchannel_token_delivery_modes_supported: ["poll"],
 *   },
 *   {
 *     client: clientSecretBasic("agent", "s3cret"),
 *     loginHint: "ada@example.com",
 *     bindingMessage: "Pay invoice 4711",
 *     scopes: ["payments"],
 *     // Replaces the server.
 *     fetch: () =>
 *       Promise.resolve(Response.json({ auth_req_id: "r1", expires_in: 120 })),
 *   },
 * );
 * assertEquals(auth_req_id, "r1");
 * ```
 *
 * @category Messages of the protocol
 */
export async function requestBackchannelAuthentication(
  serverMetadata: ServerMetadata,
  options: RequestBackchannelAuthenticationOptions,
): Promise<BackchannelAuthentication> {
  requireObject("options.client", options.client);
  return await backchannelAuthenticationWith(
    grantContextOf(options),
    serverMetadata,
    {
      loginHint: options.loginHint,
      loginHintToken: options.loginHintToken,
      idTokenHint: options.idTokenHint,
      bindingMessage: options.bindingMessage,
      acrValues: options.acrValues,
      requestedExpirySeconds: options.requestedExpirySeconds,
    },
    requestedOf(options),
  );
}

export async function backchannelAuthenticationWith(
  context: GrantContext,
  serverMetadata: BackchannelServer,
  asked: Asked,
  requested: Requested,
): Promise<BackchannelAuthentication> {
  requirePollMode(context, serverMetadata);
  const form = formWith(parametersOf(asked), {
    ...requested,
    scopes: mergeScopes("openid", requested.scopes),
  });
  const { members, response } = await postForm(
    context,
    serverMetadata,
    "backchannel_authentication_endpoint",
    form,
  );
  const auth_req_id = stringMember(members, "auth_req_id");
  const expires_in = numberMember(members, "expires_in") ?? 0;
  const interval = numberMember(members, "interval");
  if (!auth_req_id || !(expires_in > 0)) {
    const problem = words`has no usable auth_req_id or expires_in`;
    throw unusableResponse(
      context,
      response,
      "Backchannel authentication",
      problem,
    );
  }
  return {
    auth_req_id,
    expires_in,
    expires_at: Math.floor(context.now() / 1000 + expires_in),
    ...(interval !== undefined && { interval }),
  };
}
