import {
  optionalFunction,
  requireArgument,
  requireNonEmptyString,
  requireObject,
} from "../core/_arguments.ts";
import { TOKEN_TYPE_ACCESS_TOKEN } from "../core/constants.ts";
import { errorOf, words } from "../http/_error.ts";
import type { Client } from "../client/known_client.ts";
import { buildTokenExchangeBody } from "../token/grant_body.ts";
import { exchangeWith } from "../token/token_exchange.ts";
import {
  requireFlowNames,
  userlessScopesOf,
  withoutUser,
} from "./_flow_parameters.ts";
import { grantOf, newSession } from "./_new_session.ts";
import { serverOf } from "../session/_parties.ts";
import { requestedResource } from "../session/_requested_resource.ts";
import type { Flow, FlowOptions } from "./flow.ts";
import { sessionContextOf } from "../session/session.ts";
import {
  isOver,
  type SubjectToken,
  subjectTokenOf,
  type SubjectTokenRequest,
} from "./subject_token.ts";

/** Options of {@linkcode exchangeFlow}. */
export interface ExchangeFlowOptions extends
  Pick<
    FlowOptions,
    "scopes" | "authorizationDetails" | "parameters" | "resourceIndicator"
  > {
  /** This service's client, with its issuer. */
  client: Client;
  /**
   * Returns the caller's token, which your service has checked: an access token unless
   * `type` is set. Called for each exchange. Return tokens of a single caller: their
   * results form one session.
   */
  getSubjectToken: (
    request: SubjectTokenRequest,
  ) => string | SubjectToken | Promise<string | SubjectToken>;
  /**
   * Returns a token of the party that acts for the caller, an access token unless
   * `type` is set. Set it if the server requires an actor; most servers use `client`.
   */
  getActorToken?:
    | ((
      request: SubjectTokenRequest,
    ) => string | SubjectToken | Promise<string | SubjectToken>)
    | undefined;
  /** Name of the API at the server, if the server does not know its URL. */
  audience?: string | undefined;
}

/** The compiler reports a missing option. */
const OPTIONS: Record<keyof ExchangeFlowOptions, true> = {
  client: true,
  getSubjectToken: true,
  getActorToken: true,
  audience: true,
  scopes: true,
  authorizationDetails: true,
  parameters: true,
  resourceIndicator: true,
};

/**
 * Creates the flow of a service that calls another API for its caller: the
 * authorization server exchanges the caller's token for one that the API accepts. No
 * user is prompted.
 *
 * - Create a fetch for each caller, as {@linkcode perCaller} does, and never share a
 *   store between callers: everyone who uses a store uses the session in it.
 * - When the new token has expired, or the API rejects it, `getSubjectToken` is called
 *   again. A refresh token is not kept, because it would outlast the caller's token.
 * - An expired JWT is not sent: the error is `expired`. A rejection of the server is
 *   thrown, and no other grant is tried. If {@linkcode adviceFor} returns
 *   `reauthorize`, the caller needs a new token.
 *
 * For Microsoft Entra ID, use {@linkcode assertionFlow} with the parameter
 * `requested_token_use: "on_behalf_of"`.
 *
 * @param options The client, and the token of the caller.
 * @throws {OAuthClientError} `invalid_argument`: an option is invalid, or the client
 * has no `issuer`, so that the API could choose the server that receives the caller's
 * token. The returned function throws `expired`, other codes as for
 * {@linkcode exchangeToken}, and errors of `getSubjectToken` and `getActorToken`.
 * @see RFC 8693, sections 2.1 and 2.2.
 *
 * @example Call an API for the callers of this service
 * ```ts
 * import {
 *   clientSecretBasic,
 *   createAuthorizedFetch,
 *   exchangeFlow,
 *   perCaller,
 * } from "@oauth-helper/client";
 *
 * const client = clientSecretBasic("mcp-server", "s3cret", {
 *   issuer: "https://as.example",
 * });
 *
 * export const calendarFor = perCaller((callerToken) =>
 *   createAuthorizedFetch("https://calendar.example/v1", {
 *     flow: exchangeFlow({ client, getSubjectToken: () => callerToken }),
 *   })
 * );
 * ```
 *
 * @category Flows
 */
export function exchangeFlow(options: ExchangeFlowOptions): Flow {
  const { client, getSubjectToken, getActorToken, audience, ...further } =
    requireObject("options", options);
  requireFlowNames(options, OPTIONS, "exchangeFlow");
  const { authorizationDetails, parameters } = further;
  const { issuer } = requireObject("client", client);
  // Even a public client sends a credential: the caller's token.
  requireNonEmptyString("The issuer of client", issuer);
  requireArgument(
    typeof getSubjectToken === "function",
    "getSubjectToken",
    "a function",
  );
  optionalFunction("getActorToken", getActorToken);
  return withoutUser(client, async (request) => {
    const { acrValues, maxAge, signal } = request;
    const context = { ...sessionContextOf(request), client };
    const scopes = userlessScopesOf(request, options);
    const grant = grantOf(request.context, options, client, scopes);
    const why = { acrValues, maxAge, signal };
    const subject = subjectTokenOf(
      "getSubjectToken",
      await getSubjectToken(why),
      TOKEN_TYPE_ACCESS_TOKEN,
    );
    if (isOver(subject.token, context.now)) {
      throw errorOf(
        context,
        "expired",
        words`The token of the caller has expired (obtain a new one from the \
caller)`,
      );
    }
    const actor = getActorToken && subjectTokenOf(
      "getActorToken",
      await getActorToken(why),
      TOKEN_TYPE_ACCESS_TOKEN,
    );
    const body = buildTokenExchangeBody({
      subjectToken: subject.token,
      subjectTokenType: subject.type,
      requestedTokenType: TOKEN_TYPE_ACCESS_TOKEN,
      actorToken: actor?.token,
      actorTokenType: actor?.type,
      audience,
      resource: requestedResource(grant),
      scopes,
      authorizationDetails,
      parameters,
    });
    const token = await exchangeWith(context, serverOf(grant), body);
    delete token.refresh_token;
    return newSession(grant, token, context.dpop);
  });
}
