/**
 * The steps of the two flows with a user: the device flow and the code flow. The
 * browser of the tests plays the user.
 */
import {
  buildAuthorizationCodeBody,
  buildAuthorizationUrl,
  createPkcePair,
  createState,
  fetchDeviceAuthorization,
  fetchToken,
  parseAuthorizationResponse,
  pollDeviceToken,
} from "../../mod.ts";
import { createBrowser } from "../../tests/servers/browser.ts";
import { callWithToken, describeToken } from "./client_steps.ts";
import { REDIRECT_URI } from "./discovery_steps.ts";
import { type IProgress, type IStep, need } from "./steps.ts";

/** Returns what every step of this file needs. */
function readyForUser({ server, client, resource, fetch }: IProgress) {
  return {
    fetch,
    server: need(server, "metadata of the server"),
    client: need(client, "a client"),
    resource: need(resource, "a resource indicator"),
  };
}

const startDeviceFlow: IStep = {
  name: "device_authorization",
  action: "Request codes for a device: fetchDeviceAuthorization()",
  expected: "a device_code and a user_code",
  async run(progress) {
    const { server, client, resource, fetch } = readyForUser(progress);
    progress.device = await fetchDeviceAuthorization(server, {
      client,
      resource,
      scopes: progress.scopes,
      fetch,
    });
    const { user_code, verification_uri, expires_in } = progress.device;
    return {
      result: `a code of ${user_code.length} characters for ${expires_in} s`,
      details: { verification_uri },
    };
  },
};

const pollForToken: IStep = {
  name: "device_token",
  action: "Poll while the user signs in: pollDeviceToken()",
  expected: "a token",
  async run(progress) {
    const { server, client, fetch } = readyForUser(progress);
    const device = need(progress.device, "a device code");
    let polls = 0;
    progress.token = await pollDeviceToken(server, device, {
      client,
      fetch,
      // Does not wait: the user signs in between the polls.
      delay: async () => {
        if (++polls < 2) return;
        const { verification_uri, user_code } = device;
        await createBrowser().activate(verification_uri, user_code);
      },
    });
    return { result: describeToken(progress.token) };
  },
};

const requestAuthorization: IStep = {
  name: "authorization",
  action: "Request authorization by the user: buildAuthorizationUrl()",
  expected: "a callback with code, state and iss",
  async run(progress) {
    const { server, client, resource } = readyForUser(progress);
    const { codeVerifier, codeChallenge } = await createPkcePair();
    const state = createState();
    const url = buildAuthorizationUrl(server, {
      clientId: client.client_id,
      redirectUri: REDIRECT_URI,
      state,
      codeChallenge,
      scopes: progress.scopes,
      resource,
    });
    const callback = await createBrowser().authorize(url);
    const { code } = parseAuthorizationResponse(callback, {
      state,
      serverMetadata: server,
    });
    progress.grant = { code, codeVerifier };
    return {
      result: "the user is back; state and issuer match",
      details: {
        sent_to: url.origin + url.pathname,
        sent: [...url.searchParams.keys()].join(", "),
        received: [...callback.searchParams.keys()].join(", "),
      },
    };
  },
};

const redeemCode: IStep = {
  name: "code_token",
  action: "Exchange the code for a token: fetchToken()",
  expected: "a token",
  async run(progress) {
    const { server, client, resource, fetch } = readyForUser(progress);
    const body = buildAuthorizationCodeBody({
      ...need(progress.grant, "a code"),
      redirectUri: REDIRECT_URI,
      resource,
    });
    progress.token = await fetchToken(server, body, { client, fetch });
    return { result: describeToken(progress.token) };
  },
};

export const deviceSteps: readonly IStep[] = [
  startDeviceFlow,
  pollForToken,
  callWithToken("device_call"),
];

export const codeSteps: readonly IStep[] = [
  requestAuthorization,
  redeemCode,
  callWithToken("code_call"),
];
