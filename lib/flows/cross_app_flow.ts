import {
  requireArgument,
  requireHttpUrl,
  requireObject,
  requireStringMembers,
} from "../core/_arguments.ts";
import { scopesFrom } from "../core/_scope_values.ts";
import { adviceFor } from "../core/advice.ts";
import { GRANT_PROFILE_ID_JAG } from "../core/constants.ts";
import { isOAuthClientError } from "../core/errors.ts";
import type {
  IAuthorizationServerMetadata,
  ServerMetadata,
} from "../core/metadata.ts";
import { missingScopes } from "../core/scopes.ts";
import type { Context } from "../http/_context.ts";
import { errorOf, literal, words } from "../http/_error.ts";
import { discoverServerWith } from "../discovery/discover_server.ts";
import { requireBoundClient } from "../client/_authentication_selection.ts";
import type { Client } from "../client/known_client.ts";
import type { GrantContext } from "../token/_grant_context.ts";
import { idJagWith, redeemWith } from "../token/cross_app_access.ts";
import {
  requireFlowNames,
  userlessScopesOf,
  withoutUser,
} from "./_flow_parameters.ts";
import { askForToken, newIdJag } from "./_new_id_jag.ts";
import { type Grant, grantOf, newSession } from "./_new_session.ts";
import { type Internal, internalOf } from "../session/_internal.ts";
import { serverOf } from "../session/_parties.ts";
import { requestedResource } from "../session/_requested_resource.ts";
import type { Flow, FlowOptions, FlowRequest } from "./flow.ts";
import { type Session, sessionContextOf } from "../session/session.ts";
import type { SubjectToken, SubjectTokenRequest } from "./subject_token.ts";

/** Options of {@linkcode crossAppFlow}. */
export interface CrossAppFlowOptions extends
  Pick<
    FlowOptions,
    | "scopes"
    | "authorizationDetails"
    | "parameters"
    | "resourceIndicator"
    | "tokenParameters"
  > {
  /**
   * Issuer of the identity provider, whose metadata is discovered once, or the
   * metadata.
   */
  idp: string | URL | ServerMetadata;
  /** The client at the identity provider, the same as for the user's sign-in. */
  idpClient: Client;
  /**
   * The client at the resource's authorization server, with its issuer. The URL of a
   * client metadata document works at any server: `privateKeyJwt(url, key)` or
   * `publicClient(url)`.
   */
  client: Client;
  /**
   * Returns the user's token from the identity provider: an ID token unless `type` is
   * set. Called for each new ID-JAG, often every few minutes: return the same token
   * while it is valid.
   */
  getSubjectToken: (
    request: SubjectTokenRequest,
  ) => string | SubjectToken | Promise<string | SubjectToken>;
  /** Other parameters of the token exchange at the identity provider. */
  parameters?: Readonly<Record<string, string>> | undefined;
  /**
   * Accepts a server that lists no `authorization_grant_profiles_supported`, but
   * accepts ID-JAGs.
   *
   * @default false
   */
  assumeProfile?: boolean | undefined;
}

function requireProfile(
  context: Context,
  {
    issuer,
    authorization_grant_profiles_supported: profiles,
    grant_types_supported: grants,
  }: IAuthorizationServerMetadata,
  assumeProfile = false,
): void {
  if (profiles?.includes(GRANT_PROFILE_ID_JAG) ?? assumeProfile) return;
  const problem = profiles
    ? words`authorization_grant_profiles_supported is ${{ json: profiles }}`
    : words`it has no authorization_grant_profiles_supported, and \
grant_types_supported is ${{ json: grants ?? "missing" }}${[{
      option: "assumeProfile",
      value: true,
      text: "set assumeProfile if it is known to accept ID-JAGs",
    }]}`;
  throw errorOf(
    context,
    "unsupported",
    words`Authorization server ${{
      url: issuer,
    }} does not list the grant profile ${
      literal(GRANT_PROFILE_ID_JAG)
    }: ${problem}`,
  );
}

/** Returns a session's ID-JAG if it was issued for the same request. */
function keptIdJagOf(
  { session, isFresh, acrValues, maxAge }: FlowRequest,
  grant: Grant,
): Internal["idJag"] {
  // Its audience, client, key and expiry are checked when it is redeemed.
  const isFor = session?.resource === grant.resource && !isFresh &&
    requestedResource(session) === requestedResource(grant) &&
    acrValues === undefined && maxAge === undefined &&
    missingScopes(grant.scopes, session.scopes).length === 0;
  return isFor ? internalOf(session).idJag : undefined;
}

/** Redeems an ID-JAG for a session that keeps it. */
async function redeem(
  { assertion, scope }: NonNullable<Internal["idJag"]>,
  grant: Grant,
  context: GrantContext,
): Promise<Session> {
  const { scopes } = grant;
  const requested = {
    resource: requestedResource(grant),
    // The identity provider's policy may have granted fewer scopes.
    scopes: scope === undefined
      ? scopes
      : scopes.filter((one) => scopesFrom(scope).includes(one)),
  };
  const token = await redeemWith(
    context,
    serverOf(grant),
    { assertion },
    requested,
    internalOf(grant).tokenParameters,
  );
  // A refresh token would outlast a decision of the identity provider; the ID-JAG
  // replaces it.
  delete token.refresh_token;
  const session = newSession(grant, token, context.dpop);
  const idJag = { assertion, ...(scope !== undefined && { scope }) };
  return {
    ...session,
    internal: { ...session.internal, idJag } satisfies Internal,
  };
}

/** Checks whether a server that rejected a kept ID-JAG may accept a new one. */
function isSpent(error: unknown): boolean {
  return adviceFor(error).action === "reauthorize" ||
    isOAuthClientError(error, "issuer_mismatch");
}

/** The compiler reports a missing option. */
const OPTIONS: Record<keyof CrossAppFlowOptions, true> = {
  idp: true,
  idpClient: true,
  client: true,
  getSubjectToken: true,
  assumeProfile: true,
  scopes: true,
  authorizationDetails: true,
  parameters: true,
  resourceIndicator: true,
  tokenParameters: true,
};

/**
 * Creates the flow of enterprise-managed authorization, for
 * {@linkcode createAuthorizedFetch}. The identity provider exchanges the user's token
 * for an Identity Assertion Authorization Grant (ID-JAG), which the resource's server
 * redeems. The user is not prompted to consent.
 *
 * - The server must list the grant profile in `authorization_grant_profiles_supported`.
 * - The session keeps the ID-JAG, and redeems it again for the same resource and scopes
 *   while it is valid. Then the flow requests a new one. The server's refresh token is
 *   not used.
 * - `getSubjectToken` is called again if it returns an expired ID token, or after the
 *   identity provider's `insufficient_user_authentication`. If it then returns the same
 *   token, the error is thrown, with `acr_values` and `max_age` in its `errorResponse`.
 * - Other errors of either server are thrown; no other grant is tried, because the user
 *   cannot consent to access that a policy denies.
 * - With `dpop`, the ID-JAG must be bound to the key by its `cnf.jkt`.
 *
 * @param options The identity provider, the client at both servers, and the user's
 * token.
 * @throws {OAuthClientError} `invalid_argument`: an option is invalid, or `client`
 * contains credentials and no issuer. The returned function throws `unsupported` if the
 * server does not list the profile, other codes as for
 * {@linkcode discoverAuthorizationServer}, {@linkcode fetchIdJag} and
 * {@linkcode redeemIdJag}, and errors of `getSubjectToken`.
 * @see draft-ietf-oauth-identity-assertion-authz-grant, sections 4 and 5; Model Context
 * Protocol, extension "Enterprise-Managed Authorization".
 *
 * @example Call a resource with the user's ID token of the identity provider
 * ```ts
 * import {
 *   clientSecretBasic,
 *   createAuthorizedFetch,
 *   crossAppFlow,
 * } from "@oauth-helper/client";
 *
 * export function resourceFor(getIdToken: () => Promise<string>) {
 *   return createAuthorizedFetch("https://api.example/mcp", {
 *     flow: crossAppFlow({
 *       idp: "https://idp.example",
 *       idpClient: clientSecretBasic("client-at-the-idp", "s3cret"),
 *       client: clientSecretBasic("client-at-the-as", "0ther", {
 *         issuer: "https://as.example",
 *       }),
 *       getSubjectToken: getIdToken,
 *     }),
 *   });
 * }
 * ```
 *
 * @example Use the refresh token of the identity provider
 * ```ts
 * import {
 *   crossAppFlow,
 *   type Session,
 *   privateKeyJwt,
 *   publicClient,
 *   TOKEN_TYPE_REFRESH_TOKEN,
 * } from "@oauth-helper/client";
 *
 * export function flowFor(atIdp: Session, key: CryptoKey) {
 *   return crossAppFlow({
 *     idp: { ...atIdp.server, issuer: atIdp.issuer },
 *     idpClient: publicClient("client-at-the-idp"),
 *     // A client metadata document, for every authorization server.
 *     client: privateKeyJwt("https://app.example/client.json", key),
 *     getSubjectToken: () => ({
 *       token: atIdp.token.refresh_token ?? "",
 *       type: TOKEN_TYPE_REFRESH_TOKEN,
 *     }),
 *   });
 * }
 * ```
 *
 * @category Flows
 */
export function crossAppFlow(options: CrossAppFlowOptions): Flow {
  const { idp, idpClient, client, getSubjectToken, ...further } = requireObject(
    "options",
    options,
  );
  requireFlowNames(options, OPTIONS, "crossAppFlow");
  const { assumeProfile, authorizationDetails, parameters } = further;
  const isNamed = typeof idp === "string" || idp instanceof URL;
  if (isNamed) requireHttpUrl("idp", idp);
  let idpMetadata = isNamed ? undefined : requireObject("idp", idp);
  requireObject("idpClient", idpClient);
  requireBoundClient(requireObject("client", client));
  requireArgument(
    typeof getSubjectToken === "function",
    "getSubjectToken",
    "a function",
  );
  requireStringMembers("tokenParameters", further.tokenParameters);

  const metadataOf = async (context: Context) => {
    const discover = () => discoverServerWith(context, idp as string | URL, {});
    return idpMetadata ??= (await discover()).serverMetadata;
  };

  return withoutUser(client, async (request) => {
    const { serverMetadata } = request.context;
    const context = { ...sessionContextOf(request), client };
    requireProfile(context, serverMetadata, assumeProfile);
    const scopes = userlessScopesOf(request, options);
    const grant = grantOf(request.context, options, client, scopes);
    const kept = keptIdJagOf(request, grant);
    if (kept) {
      try {
        return await redeem(kept, grant, context);
      } catch (error) {
        if (!isSpent(error)) throw error;
      }
    }
    const resource = requestedResource(grant);
    const fetched = await newIdJag({
      ask: (why) => askForToken(getSubjectToken, request, why),
      exchange: async (subject) =>
        await idJagWith(
          { ...context, client: idpClient },
          await metadataOf(context),
          {
            subjectToken: subject.token,
            subjectTokenType: subject.type,
            audience: request.context.issuer,
            resourceClientId: undefined,
            requested: { resource, scopes, authorizationDetails, parameters },
          },
        ),
      now: context.now,
    });
    return await redeem(fetched, grant, context);
  });
}
