/**
 * The two flows that a user takes part in. A browser without a screen, which the
 * tests have as well, plays the user.
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
import { callWithToken, describeToken, REDIRECT_URI } from "./client_steps.ts";
import { type IStep, type IWalk, need } from "./walk.ts";

const TOKEN_EXPECTED = "200 and JSON with an access_token";

/** What every step of this file needs. */
function readyForUser({ server, client, resource }: IWalk) {
  return {
    server: need(server, "metadata of the server"),
    client: need(client, "a client"),
    resource: need(resource, "a resource indicator"),
  };
}

const startDeviceFlow: IStep = {
  name: "device_authorization",
  expected: "200 and JSON with a device_code and a user_code",
  asked: () => "A device asks for codes (device flow)",
  async run(walk) {
    const { server, client, resource } = readyForUser(walk);
    walk.device = await fetchDeviceAuthorization(server, {
      client,
      resource,
      scopes: walk.scopes,
    });
    const { user_code, verification_uri, expires_in } = walk.device;
    return {
      answer: `a code of ${user_code.length} characters for ${expires_in} s`,
      details: { to_be_typed_in_at: verification_uri },
    };
  },
};

const pollForToken: IStep = {
  name: "device_token",
  expected: TOKEN_EXPECTED,
  asked: () => "It polls, and the user signs in meanwhile",
  async run(walk) {
    const { server, client } = readyForUser(walk);
    const device = need(walk.device, "a device code");
    const seen: string[] = [];
    let polls = 0;
    walk.token = await pollDeviceToken(server, device, {
      client,
      onPending: (progress) => {
        seen.push(
          `${progress.polls}: not yet, again in ${progress.interval} s`,
        );
      },
      // Nobody waits here: the user takes the time between the polls.
      delay: async () => {
        if (++polls < 2) return;
        const { verification_uri, user_code } = device;
        await createBrowser().activate(verification_uri, user_code);
      },
    });
    return {
      answer: describeToken(walk.token),
      details: {
        polls: [...seen, `${polls}: the user has signed in`].join(", "),
      },
    };
  },
};

const sendUserOff: IStep = {
  name: "authorization",
  expected: "a callback with code, state and iss",
  asked: () => "A program sends its user to sign in (code flow)",
  async run(walk) {
    const { server, client, resource } = readyForUser(walk);
    const { codeVerifier, codeChallenge } = await createPkcePair();
    const state = createState();
    const url = buildAuthorizationUrl(server, {
      clientId: client.clientId,
      redirectUri: REDIRECT_URI,
      state,
      codeChallenge,
      scopes: walk.scopes,
      resource,
    });
    const callback = await createBrowser().authorize(url);
    const { code } = parseAuthorizationResponse(callback, {
      state,
      serverMetadata: server,
    });
    walk.grant = { code, codeVerifier };
    return {
      answer: "the user is back; state and issuer are the right ones",
      details: {
        sent_to: url.origin + url.pathname,
        sent: [...url.searchParams.keys()].join(", "),
        came_back: [...callback.searchParams.keys()].join(", "),
      },
    };
  },
};

const redeemCode: IStep = {
  name: "code_token",
  expected: TOKEN_EXPECTED,
  asked: () => "It trades the code for a token",
  async run(walk) {
    const { server, client, resource } = readyForUser(walk);
    const body = buildAuthorizationCodeBody({
      ...need(walk.grant, "a code"),
      redirectUri: REDIRECT_URI,
      resource,
    });
    walk.token = await fetchToken(server, body, { client });
    return { answer: describeToken(walk.token) };
  },
};

/** The device flow, then the code flow, each to an answer of the resource. */
export const userSteps: readonly IStep[] = [
  startDeviceFlow,
  pollForToken,
  callWithToken("device_call"),
  sendUserOff,
  redeemCode,
  callWithToken("code_call"),
];
