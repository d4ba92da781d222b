/** The sign-in of a diagnosis: the library's own flow, and requests with its token. */

import type { OAuthClientError } from "../core/errors.ts";
import { mergeScopes } from "../core/scopes.ts";
import { createDpop } from "../client/dpop.ts";
import type { IKnownClient } from "../client/known_client.ts";
import { codeFlow } from "../session/code_flow.ts";
import type { IVisit } from "../session/code_flow_options.ts";
import { deviceFlow } from "../session/device_flow.ts";
import { type ISession, sessionOptionsOf } from "../session/session.ts";
import { responseParametersOf } from "../token/authorization_response.ts";
import { checkIdToken } from "../token/id_token.ts";
import {
  clientKindOf,
  type IFacts,
  isAssumed,
  type ISignInFacts,
  isLost,
  isOpen,
} from "./_facts.ts";
import { attempt, type ISurvey, probe } from "./_probe.ts";
import { type ISignInRequests, requestsOf } from "./_sign_in_requests.ts";
import { lastOf, responseMembersOf } from "./_sign_in_steps.ts";
import type { IDiagnosisOption } from "./diagnosis.ts";
import type { DiagnoseSignIn, IDiagnoseCodeSignIn } from "./sign_in.ts";
import { CLIENT_METADATA, deleteRegistered } from "./_registration.ts";
import { revoke, useSession } from "./_use_session.ts";

/** Checks whether a user signs in with a browser on this device. */
function isCode(signIn: DiagnoseSignIn): signIn is IDiagnoseCodeSignIn {
  return typeof (signIn as Partial<IDiagnoseCodeSignIn>).visit === "function";
}

/** Checks whether a sign-in can begin: there is a server, and a client for it. */
function maySignIn(facts: IFacts, signIn: DiagnoseSignIn): boolean {
  const isGuess = isLost(facts) || (isOpen(facts) && isAssumed(facts));
  if (!facts.context || isGuess) return false;
  const kind = clientKindOf(facts);
  // Some servers respond to a POST only at the registration endpoint that is assumed.
  return signIn.client !== undefined || kind === "register" ||
    facts.assumed !== undefined ||
    (kind === "client_metadata_document" &&
      signIn.clientMetadataUrl !== undefined);
}

/** Returns why the ID token of a token response is not valid, if there is one. */
async function idTokenErrorOf(
  survey: ISurvey,
  { context, client }: ISignInFacts,
  nonce: string | undefined,
): Promise<OAuthClientError | undefined> {
  const members = responseMembersOf(lastOf(survey.recorder.exchanges, "token"));
  const { id_token, access_token } = members ?? {};
  if (typeof id_token !== "string" || !client) return undefined;
  const { error } = await attempt(survey, () =>
    checkIdToken(id_token, {
      issuer: context.issuer,
      clientId: client.client_id,
      nonce,
      accessToken: typeof access_token === "string" ? access_token : undefined,
      now: survey.options.now,
    }));
  return error;
}

/** Returns the client of a sign-in: the one in its options, or the one it registered. */
function clientOf(
  { recorder }: ISurvey,
  { client, clientMetadataUrl }: DiagnoseSignIn,
  issuer: string,
): ISignInFacts["client"] {
  if (client) {
    return "clientId" in client
      ? { issuer, client_id: client.clientId }
      : { ...client, issuer };
  }
  const registered = responseMembersOf(
    lastOf(recorder.exchanges, "registration"),
  );
  if (typeof registered?.client_id === "string") {
    return { ...registered, client_id: registered.client_id, issuer };
  }
  return clientMetadataUrl === undefined
    ? undefined
    : { issuer, client_id: String(clientMetadataUrl) };
}

/** Revokes the tokens that a flow received before it failed. */
async function revokeUnused(
  survey: ISurvey,
  client: IKnownClient,
  { context: { issuer, resource, serverMetadata } }: ISignInFacts,
  requests: ISignInRequests,
): Promise<void> {
  const members = responseMembersOf(lastOf(survey.recorder.exchanges, "token"));
  const { access_token, refresh_token } = members ?? {};
  if (typeof access_token !== "string") return;
  const token = {
    token_type: "Bearer",
    access_token,
    ...(typeof refresh_token === "string" && { refresh_token }),
  };
  const session = {
    issuer,
    resource,
    serverMetadata,
    client,
    token,
    scopes: [],
  };
  await revoke(survey, session, requests);
}

/**
 * Signs a user in, uses the session, and revokes it; deletes the client that was
 * registered, also if the caller's function fails.
 */
export async function signIn(
  survey: ISurvey,
  facts: IFacts,
  needed: readonly IDiagnosisOption[],
): Promise<ISignInFacts | undefined> {
  let record: ISignInFacts | undefined;
  try {
    record = await signInAndUse(survey, facts, needed);
  } finally {
    const { serverMetadata } = facts.context ?? {};
    const deletion = serverMetadata &&
      await deleteRegistered(survey, serverMetadata);
    if (record) record.deletion = deletion;
  }
  return record;
}

/** Signs a user in, uses the session, and revokes it. */
async function signInAndUse(
  survey: ISurvey,
  facts: IFacts,
  needed: readonly IDiagnosisOption[],
): Promise<ISignInFacts | undefined> {
  const { options, recorder } = survey;
  const { context } = facts;
  const { signIn: given } = options;
  if (!context || !given || !maySignIn(facts, given)) return undefined;
  const needs = (wanted: string) => needed.some(({ name }) => name === wanted);
  const dpop = needs("dpop")
    ? await createDpop({ now: options.now })
    : undefined;
  const requests = requestsOf(survey, dpop);
  const challenged = mergeScopes(context.challenge?.params.scope);
  const scopes = challenged.length > 0 ? challenged : context.scopes ?? [];
  const isNamed = given.resource !== undefined || !facts.isServer;
  const isResourceSent = given.resource !== false && isNamed &&
    !needs("resource");
  const flow = {
    client: given.client,
    clientMetadataUrl: given.clientMetadataUrl,
    clientMetadata: CLIENT_METADATA,
    scopes: given.scopes,
    parameters: given.parameters,
    offlineAccess: options.offlineAccess,
    resource: isResourceSent ? given.resource : false as const,
  };
  const record: ISignInFacts = {
    flow: isCode(given) ? "code" : "device",
    context,
    requestedScopes: given.scopes ?? scopes,
    isClientGiven: given.client !== undefined,
    hasDpop: dpop !== undefined,
  };
  let nonce = given.parameters?.nonce;
  let failedUrl: URL | undefined;
  const visitWith = (
    visit: (url: URL, authorization: IVisit) => Promise<
      string | URL | URLSearchParams | Request
    >,
  ) =>
  async (url: URL, authorization: IVisit) => {
    requests.step = "authorization";
    ({ nonce, scopes: record.requestedScopes } = authorization.pending);
    const end = recorder.noteVisit(url);
    failedUrl = url;
    try {
      const callback = responseParametersOf(await visit(url, authorization));
      record.callback = callback;
      failedUrl = undefined;
      return callback;
    } finally {
      end(record.callback);
    }
  };
  const authorize = isCode(given)
    ? codeFlow({
      ...flow,
      redirectUri: given.redirectUri,
      visit: visitWith(given.visit),
      turn: given.turn,
      assumePkce: options.assumePkce,
    })
    : deviceFlow({ ...flow, show: given.show, delay: given.delay });
  const { result: session, error } = await attempt<ISession>(
    survey,
    () => authorize({ ...sessionOptionsOf(requests.context), context, scopes }),
  );
  const client = session?.client ?? clientOf(survey, given, context.issuer);
  if (client) record.client = client;
  if (error) record.failure = { step: requests.step, error };
  if (error && client) await revokeUnused(survey, client, record, requests);
  if (failedUrl && !failedUrl.searchParams.has("request_uri")) {
    // Requests the page that the user may have seen. A pushed request must not be used twice.
    record.page = await probe(survey, {
      name: "authorization_endpoint",
      purpose: "authorization_server_metadata",
      url: failedUrl.href,
    });
  }
  const idTokenError = await idTokenErrorOf(survey, record, nonce);
  if (idTokenError) record.idTokenError = idTokenError;
  if (session) {
    record.session = session;
    await useSession(survey, facts, record, requests);
  }
  return record;
}
