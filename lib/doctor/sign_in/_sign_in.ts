/** A diagnosis's sign-in: the library's own flow, and requests with its token. */

import type { OAuthClientError } from "../../core/errors.ts";
import { createDpop } from "../../client/dpop.ts";
import type { AuthorizationContext } from "../../discovery/discover.ts";
import type { KnownClient } from "../../client/known_client.ts";
import { codeFlow } from "../../flows/code_flow.ts";
import type { Visit } from "../../flows/code_flow_options.ts";
import { scopesOf } from "../../flows/_flow_parameters.ts";
import { grantOf } from "../../flows/_new_session.ts";
import { scopesFor } from "../../fetch/_new_sign_in.ts";
import { deviceFlow } from "../../flows/device_flow.ts";
import type { Flow, FlowOptions } from "../../flows/flow.ts";
import type { PendingAuthorization } from "../../flows/pending_authorization.ts";
import { clientIn } from "../../session/_parties.ts";
import { type Session, sessionOptionsOf } from "../../session/session.ts";
import { responseParametersOf } from "../../token/authorization_response.ts";
import { checkIdToken } from "../../token/id_token.ts";
import {
  clientKindOf,
  type Facts,
  isAssumed,
  isLost,
  isOpen,
  type Outcome,
  type Probe,
  type SignInFacts,
} from "../_facts.ts";
import { attempt, probe, type Survey } from "../_probe.ts";
import type { Recorder } from "../_recorder.ts";
import { requestsOf, type SignInRequests } from "./_requests.ts";
import { lastOf, responseMembersOf } from "./_steps.ts";
import type { DiagnosisOption } from "../diagnosis.ts";
import type { DiagnoseCodeSignIn, DiagnoseSignIn } from "./sign_in.ts";
import { CLIENT_METADATA, deleteRegistered } from "./_registration.ts";
import { revoke, useSession } from "./_use_session.ts";

/** Checks whether a user signs in with a browser on this device. */
function isCode(signIn: DiagnoseSignIn): signIn is DiagnoseCodeSignIn {
  return typeof (signIn as Partial<DiagnoseCodeSignIn>).visit === "function";
}

/** Checks whether a server and a client for a sign-in exist. */
function maySignIn(facts: Facts, signIn: DiagnoseSignIn): boolean {
  const isGuess = isLost(facts) || (isOpen(facts) && isAssumed(facts));
  if (!facts.context || isGuess) return false;
  const kind = clientKindOf(facts);
  // Some servers only answer a POST at the assumed registration endpoint.
  return signIn.client !== undefined || kind === "register" ||
    facts.assumed !== undefined ||
    (kind === "client_metadata_document" &&
      signIn.clientMetadataUrl !== undefined);
}

async function idTokenErrorOf(
  survey: Survey,
  { issuer }: AuthorizationContext,
  { client_id: clientId }: KnownClient,
  nonce: string | undefined,
): Promise<OAuthClientError | undefined> {
  const members = responseMembersOf(lastOf(survey.recorder.exchanges, "token"));
  const { id_token, access_token } = members ?? {};
  if (typeof id_token !== "string") return undefined;
  const { error } = await attempt(survey, () =>
    checkIdToken(id_token, {
      issuer,
      clientId,
      nonce,
      accessToken: typeof access_token === "string" ? access_token : undefined,
      now: survey.options.now,
    }));
  return error;
}

/** Returns a sign-in's client, from its options or its registration. */
function clientOf(
  { recorder }: Survey,
  { client, clientMetadataUrl }: DiagnoseSignIn,
  issuer: string,
): KnownClient | undefined {
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
  survey: Survey,
  client: KnownClient,
  found: AuthorizationContext,
  requests: SignInRequests,
): Promise<void> {
  const members = responseMembersOf(lastOf(survey.recorder.exchanges, "token"));
  const { access_token, refresh_token } = members ?? {};
  if (typeof access_token !== "string") return;
  const token = {
    token_type: "Bearer",
    access_token,
    ...(typeof refresh_token === "string" && { refresh_token }),
  };
  const grant = grantOf(found, {}, client, []);
  await revoke(survey, { ...grant, token }, requests);
}

/** The pages of the authorization endpoint, and the last one's result. */
class Visits {
  /** The URL of a page that returned no authorization response. */
  failedUrl?: URL;
  callback?: URLSearchParams;
  pending?: PendingAuthorization;
  readonly #recorder: Recorder;
  readonly #requests: SignInRequests;

  constructor({ recorder }: Survey, requests: SignInRequests) {
    this.#recorder = recorder;
    this.#requests = requests;
  }

  recorded(
    visit: DiagnoseCodeSignIn["visit"],
  ): (url: URL, authorization: Visit) => Promise<URLSearchParams> {
    return async (url, authorization) => {
      this.#requests.step = "authorization";
      this.pending = authorization.pending;
      this.failedUrl = url;
      delete this.callback;
      const end = this.#recorder.noteVisit(url);
      try {
        this.callback = responseParametersOf(await visit(url, authorization));
        delete this.failedUrl;
        return this.callback;
      } finally {
        end(this.callback);
      }
    };
  }
}

function flowOf(
  { options }: Survey,
  given: DiagnoseSignIn,
  visits: Visits,
  isResourceSent: boolean,
): Flow {
  const common = {
    client: given.client,
    clientMetadataUrl: given.clientMetadataUrl,
    clientMetadata: CLIENT_METADATA,
    scopes: given.scopes,
    parameters: given.parameters,
    offlineAccess: options.offlineAccess,
    resourceIndicator: isResourceSent
      ? given.resourceIndicator
      : false as const,
  } satisfies FlowOptions;
  return isCode(given)
    ? codeFlow({
      ...common,
      redirectUri: given.redirectUri,
      visit: visits.recorded(given.visit),
      turn: given.turn,
      assumePkce: options.assumePkce,
    })
    : deviceFlow({ ...common, show: given.show, delay: given.delay });
}

/** Requests a failed sign-in's page, which the user may have seen. */
async function pageOf(
  survey: Survey,
  { failedUrl: url }: Visits,
): Promise<Probe | undefined> {
  // A pushed request must not be used twice.
  if (!url || url.searchParams.has("request_uri")) return undefined;
  return await probe(survey, {
    name: "authorization_endpoint",
    purpose: "authorization_server_metadata",
    url: url.href,
  });
}

/** The need of a fetch without a session. */
const NEED = {
  reason: "no_session",
  refused: undefined,
  mayRefresh: false,
} as const;

async function signInAndUse(
  survey: Survey,
  facts: Facts,
  needed: readonly DiagnosisOption[],
): Promise<SignInFacts | undefined> {
  const { now, signIn: given } = survey.options;
  const { context } = facts;
  if (!context || !given || !maySignIn(facts, given)) return undefined;
  const needs = (wanted: string) => needed.some(({ name }) => name === wanted);
  const dpop = needs("dpop") ? await createDpop({ now }) : undefined;
  const requests = requestsOf(survey, dpop);
  const visits = new Visits(survey, requests);
  const isNamed = given.resourceIndicator !== undefined || !facts.isServer;
  const flow = flowOf(
    survey,
    given,
    visits,
    given.resourceIndicator !== false && isNamed && !needs("resourceIndicator"),
  );
  // As in a fetch: the challenge's scopes are added to the caller's.
  const { scopes, requiredScopes } = scopesFor(NEED, context, undefined);
  const asked = { context, scopes, requiredScopes };
  const { result: session, error } = await attempt<Session>(
    survey,
    () => flow({ ...sessionOptionsOf(requests.context), ...asked }),
  );
  const client = clientIn(session) ?? clientOf(survey, given, context.issuer);
  const failure = error && { step: requests.step, error };
  if (failure && client) await revokeUnused(survey, client, context, requests);
  const { callback, pending } = visits;
  const nonce = pending ? pending.nonce : given.parameters?.nonce;
  return {
    flow: isCode(given) ? "code" : "device",
    context,
    requestedScopes: pending?.scopes ?? scopesOf(asked, given),
    isClientGiven: given.client !== undefined,
    hasDpop: dpop !== undefined,
    client,
    callback,
    failure,
    page: await pageOf(survey, visits),
    idTokenError: client &&
      await idTokenErrorOf(survey, context, client, nonce),
    session,
    ...(session && await useSession(survey, facts, session, requests)),
  };
}

/**
 * Signs a user in, uses and revokes the session, and deletes the registered client,
 * even if the caller's function fails.
 */
export async function signIn(
  survey: Survey,
  facts: Facts,
  needed: readonly DiagnosisOption[],
): Promise<SignInFacts | undefined> {
  const { serverMetadata } = facts.context ?? {};
  let deletion: Outcome | undefined;
  let record: SignInFacts | undefined;
  try {
    record = await signInAndUse(survey, facts, needed);
  } finally {
    deletion = serverMetadata && await deleteRegistered(survey, serverMetadata);
  }
  return record && { ...record, deletion };
}
