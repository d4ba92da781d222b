/** The steps from a 401 to a client. */
import {
  DEFAULT_AUTH_FLOW_PORT,
  discoverAuthorization,
  fetchDynamicRegistration,
  parseWWWAuthenticateHeader,
} from "../../mod.ts";
import { type IStep, need } from "./steps.ts";

/** The redirect URI. Nothing listens there; the demo only reads the URL. */
export const REDIRECT_URI = `http://127.0.0.1:${DEFAULT_AUTH_FLOW_PORT}/`;

const requestWithoutToken: IStep = {
  name: "unauthorized",
  action: "Call the resource without a token: fetch()",
  expected: "401 with WWW-Authenticate",
  async run(progress) {
    const response = await progress.fetch(progress.target);
    await response.body?.cancel();
    const { status, statusText, headers } = response;
    progress.header = headers.get("WWW-Authenticate") ?? "";
    return {
      result: `${status} ${statusText} ` +
        `${progress.header ? "with" : "without"} WWW-Authenticate`,
      ok: status === 401 && progress.header !== "",
    };
  },
};

const readChallenge: IStep = {
  name: "challenge",
  action: "Parse the WWW-Authenticate header: parseChallenges()",
  expected: "a challenge with resource_metadata",
  run({ header }) {
    const [challenge] = parseWWWAuthenticateHeader(need(header, "a header"));
    const { scheme, params } = need(challenge, "a challenge");
    return {
      result: `${scheme} challenge`,
      ok: Boolean(params.resource_metadata),
      details: params,
    };
  },
};

const discover: IStep = {
  name: "discovery",
  action: "Find the authorization server: discoverAuthorization()",
  expected: "metadata of the resource and of its authorization server",
  async run(progress) {
    const { target, header: challenge, fetch } = progress;
    const context = await discoverAuthorization(target, { challenge, fetch });
    const { issuer, serverMetadata, resource, scopes = [] } = context;
    Object.assign(progress, { issuer, resource, scopes });
    progress.server = serverMetadata;
    const endpoints = Object.keys(serverMetadata)
      .filter((member) => member.endsWith("_endpoint"))
      .map((member) => member.replace("_endpoint", ""));
    return { result: issuer, details: { endpoints: endpoints.join(", ") } };
  },
};

const registerClient: IStep = {
  name: "registration",
  action: "Register a client: fetchDynamicRegistration()",
  expected: "a client_id",
  async run(progress) {
    const server = need(progress.server, "metadata of the server");
    const registration = await fetchDynamicRegistration(
      server,
      "OAuth helper demo",
      progress.scopes,
      { redirectUris: [REDIRECT_URI], fetch: progress.fetch },
    );
    progress.client = { ...registration, issuer: server.issuer };
    return { result: `client_id ${registration.client_id}` };
  },
};

/** Strict discovery, as a client should do it, and registration. */
export const discoverySteps: readonly IStep[] = [
  requestWithoutToken,
  readChallenge,
  discover,
  registerClient,
];
