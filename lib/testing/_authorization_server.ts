import { GRANT_TYPE_CIBA, GRANT_TYPE_DEVICE_CODE } from "../core/constants.ts";
import { respondToAuthorization } from "./_authorization_endpoint.ts";
import type {
  AuthorizationServerSettings,
  AuthorizationServerState,
} from "./_authorization_settings.ts";
import { authenticate, AUTHENTICATION_METHODS, newClient } from "./_clients.ts";
import { DPOP_ALGORITHMS, DpopProofs } from "./_dpop_proofs.ts";
import { Grants } from "./_grants.ts";
import { IdTokens } from "./_id_tokens.ts";
import { respondToBackchannel, respondToDevice } from "./_other_device.ts";
import { refusal } from "./_refusals.ts";
import {
  newGrant,
  requireGrant,
  requireResource,
  requireSecret,
  requireSingle,
} from "./_requested_grant.ts";
import { WaitingGrants } from "./_waiting_grants.ts";
import type { TestRequest } from "./request.ts";

export const ENDPOINT_PATHS = {
  authorization: "/authorize",
  token: "/token",
  registration: "/register",
  revocation: "/revoke",
  device_authorization: "/device",
  backchannel_authentication: "/bc-authorize",
} as const;

/** The path of the keys that sign ID tokens. */
export const JWKS_PATH = "/jwks";

type Endpoint = (request: TestRequest) => Response | Promise<Response>;

/**
 * Returns a request with only its form's parameters: the URL may contain none (RFC
 * 6749, section 2.3.1).
 */
function withFormOnly(request: TestRequest): TestRequest {
  const inQuery = [...request.url.searchParams].length;
  const params = new URLSearchParams([...request.params].slice(inQuery));
  return { ...request, params };
}

/** RFC 8414. */
function metadataOf(
  { issuer, switches }: AuthorizationServerSettings,
): Record<string, unknown> {
  const endpoints = Object.entries(ENDPOINT_PATHS).map(([name, path]) => [
    `${name}_endpoint`,
    issuer + path,
  ]);
  return {
    issuer,
    ...Object.fromEntries(endpoints),
    response_types_supported: ["code"],
    grant_types_supported: [
      "authorization_code",
      "refresh_token",
      "client_credentials",
      GRANT_TYPE_DEVICE_CODE,
      GRANT_TYPE_CIBA,
    ],
    backchannel_token_delivery_modes_supported: ["poll"],
    jwks_uri: issuer + JWKS_PATH,
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
    authorization_response_iss_parameter_supported: true,
    ...switches.dpop !== "ignored" && {
      dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
    },
    ...switches.serverMetadata,
  };
}

/** A row for each grant. */
function tokenEndpoint(
  server: AuthorizationServerState,
  waiting: WaitingGrants,
): Endpoint {
  const { clients, grants, switches, now } = server;
  const proofs = new DpopProofs("authorization", switches, now);
  return async (request) => {
    const { params } = request;
    const client = authenticate(clients, request.headers, params);
    const type = params.get("grant_type") ?? "";
    requireGrant(client, type);
    requireResource(server, request);
    const jkt = await proofs.thumbprintOf(request);
    if (!jkt && switches.dpop === "required") {
      throw refusal("invalid_dpop_proof", "The header field DPoP is missing");
    }
    const redeem = (name: string) =>
      grants.issue(client, waiting.redeem(client, params.get(name)), { jkt });
    switch (type) {
      case "authorization_code":
        return await grants.redeemCode(client, params, jkt);
      case "refresh_token":
        return await grants.refresh(client, params, jkt);
      case "client_credentials": {
        requireSecret(client);
        const grant = newGrant(server, client, request);
        return await grants.issue({ ...client, grant_types: [] }, grant, {
          jkt,
        });
      }
      case GRANT_TYPE_DEVICE_CODE:
        return await redeem("device_code");
      case GRANT_TYPE_CIBA:
        return await redeem("auth_req_id");
    }
    throw refusal("unsupported_grant_type", `${type} is not supported`);
  };
}

export function createAuthorizationServer(
  settings: AuthorizationServerSettings,
) {
  const { issuer, clients, switches, now } = settings;
  const idTokens = new IdTokens(issuer, now);
  const grants = new Grants(switches, now, idTokens);
  const state = { ...settings, grants };
  const waiting = new WaitingGrants(state);
  const server = { ...state, waiting };
  const authenticated = (request: TestRequest) =>
    authenticate(clients, request.headers, request.params);
  const endpoints: Record<keyof typeof ENDPOINT_PATHS, Endpoint> = {
    authorization: (request) => respondToAuthorization(server, request),
    token: tokenEndpoint(server, waiting),
    registration({ body }) {
      const client = newClient(body, grants.unique("client"));
      clients.set(client.client_id, client);
      return Response.json(client, { status: 201 });
    },
    revocation(request) {
      const client = authenticated(request);
      grants.revokeToken(client, request.params.get("token") ?? "");
      return new Response();
    },
    device_authorization: (request) =>
      respondToDevice(server, authenticated(request), request),
    backchannel_authentication: (request) =>
      respondToBackchannel(server, authenticated(request), request),
  };

  return {
    grants,
    jwks: () => idTokens.jwks(),
    metadata: () => metadataOf(settings),
    respond(endpoint: keyof typeof ENDPOINT_PATHS, request: TestRequest) {
      if (endpoint === "authorization") return endpoints[endpoint](request);
      if (request.method !== "POST") {
        return new Response("Expected POST", { status: 405 });
      }
      const form = withFormOnly(request);
      requireSingle(form.params);
      return endpoints[endpoint](form);
    },
  };
}
