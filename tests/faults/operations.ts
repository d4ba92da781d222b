/** How each network function is called, with a secret wherever one fits. */

import type { Input, Library, OperationName, World } from "./case.ts";
import { AUDIENCE, idJagOf, SECRET } from "./plays.ts";

type Call = (
  library: Library,
  world: World,
  input: Input,
  options: Record<string, unknown>,
  // deno-lint-ignore no-explicit-any
) => Promise<any>;

const JSON_HEADERS = { "X-Session": `${SECRET}-header` };

/** Seconds that pass in a test only when a poll waits. */
const CLOCK_START = 1_000_000;

// deno-lint-ignore no-explicit-any
function metadataOf({ here }: World, { metadata }: Input): any {
  return {
    issuer: here,
    registration_endpoint: `${here}/register`,
    token_endpoint: `${here}/token`,
    device_authorization_endpoint: `${here}/device`,
    backchannel_authentication_endpoint: `${here}/bc-authorize`,
    backchannel_token_delivery_modes_supported: ["poll"],
    response_types_supported: ["code"],
    ...metadata,
  };
}

function targetOf({ here }: World, { target }: Input): string {
  return target ?? `${here}/mcp`;
}

function clientOf(library: Library) {
  return library.clientSecretPost("c1", `${SECRET}-client`);
}

/** The calls; `options` win over the usual ones. */
export const CALLS: Record<OperationName, Call> = {
  fetchResourceMetadata: (library, world, input, options) =>
    library.fetchResourceMetadata(
      targetOf(world, input),
      input.resourceMetadataUrl,
      { sameOriginHeaders: JSON_HEADERS, ...options },
    ),
  fetchAuthorizationServerMetadata: (library, world, input, options) =>
    library.fetchAuthorizationServerMetadata(
      input.issuer ?? world.here,
      { additionalHeaders: JSON_HEADERS, ...options },
    ),
  discoverAuthorization: (library, world, input, options) =>
    library.discoverAuthorization(
      targetOf(world, input),
      {
        resourceMetadataHeaders: JSON_HEADERS,
        serverMetadataHeaders: JSON_HEADERS,
        ...input.resourceMetadataUrl !== undefined && {
          challenge: `Bearer resource_metadata="${input.resourceMetadataUrl}"`,
        },
        ...options,
      },
    ),
  fetchDynamicRegistration: (library, world, input, options) =>
    library.fetchDynamicRegistration(
      metadataOf(world, input),
      "A client",
      ["read"],
      {
        headers: { Authorization: `Bearer ${SECRET}-initial` },
        ...options,
      },
    ),
  registerClient: (library, world, input, options) =>
    library.registerClient(
      metadataOf(world, input),
      { client_name: "A client", redirect_uris: ["http://127.0.0.1/"] },
      {
        headers: { Authorization: `Bearer ${SECRET}-initial` },
        ...options,
      },
    ),
  fetchToken: (library, world, input, options) =>
    library.fetchToken(
      metadataOf(world, input),
      new URLSearchParams({
        grant_type: "authorization_code",
        code: `${SECRET}-code`,
        code_verifier: `${SECRET}-verifier`,
      }),
      { client: clientOf(library), ...options },
    ),
  fetchDeviceAuthorization: (library, world, input, options) =>
    library.fetchDeviceAuthorization(
      metadataOf(world, input),
      { client: clientOf(library), ...options },
    ),
  pollDeviceToken: (library, world, input, options) => {
    let milliseconds = CLOCK_START * 1000;
    return library.pollDeviceToken(
      metadataOf(world, input),
      {
        device_code: `${SECRET}-device`,
        user_code: "WDJB-MJHT",
        verification_uri: "https://as.example/activate",
        expires_in: 100,
        expires_at: CLOCK_START + 100,
        interval: 40,
        ...input.authorization,
      },
      {
        client: clientOf(library),
        now: () => milliseconds,
        delay(wait: number) {
          milliseconds += wait;
          return Promise.resolve();
        },
        ...options,
      },
    );
  },
  requestBackchannelAuthentication: (library, world, input, options) =>
    library.requestBackchannelAuthentication(metadataOf(world, input), {
      client: clientOf(library),
      loginHint: `${SECRET}-user`,
      ...options,
    }),
  fetchIdJag: (library, world, input, options) =>
    library.fetchIdJag(metadataOf(world, input), {
      client: clientOf(library),
      subjectToken: `${SECRET}-subject`,
      audience: AUDIENCE,
      ...options,
    }),
  redeemIdJag: (library, world, input, options) =>
    library.redeemIdJag(
      metadataOf(world, input),
      {
        assertion: idJagOf("https://idp.example", { aud: world.here }),
      },
      { client: clientOf(library), ...options },
    ),
};

/** Whether a result is what a good server's document leads to. */
export const IS_GOOD: Record<
  OperationName,
  // deno-lint-ignore no-explicit-any
  (result: any, world: World) => boolean
> = {
  fetchResourceMetadata: ({ metadata, discoveryUrl }, { here }) =>
    discoveryUrl.startsWith(here) && metadata.resource.startsWith(here),
  fetchAuthorizationServerMetadata: ({ metadata }, { here }) =>
    metadata.issuer === here && metadata.token_endpoint === `${here}/token`,
  discoverAuthorization: (context, { here }) =>
    context.issuer === here && context.source === "resource_metadata" &&
    context.serverMetadata.token_endpoint === `${here}/token`,
  fetchDynamicRegistration: ({ client_id }) => client_id === "c1",
  registerClient: ({ client_id }) => client_id === "c1",
  fetchToken: ({ access_token, token_type }) =>
    access_token === `${SECRET}-access` && token_type === "Bearer",
  fetchDeviceAuthorization: ({ user_code }) => user_code === "WDJB-MJHT",
  pollDeviceToken: ({ access_token }) => access_token === `${SECRET}-access`,
  requestBackchannelAuthentication: ({ auth_req_id }) =>
    auth_req_id === `${SECRET}-request`,
  fetchIdJag: ({ audience, claims }) =>
    audience === AUDIENCE && claims.client_id === "c1",
  redeemIdJag: ({ access_token }) => access_token === `${SECRET}-access`,
};
