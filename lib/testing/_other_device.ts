/**
 * Endpoints that start a sign-in on another device: device authorization (RFC 8628) and
 * backchannel authentication (CIBA).
 */

import { readClaims } from "../core/_jwt.ts";
import { GRANT_TYPE_CIBA, GRANT_TYPE_DEVICE_CODE } from "../core/constants.ts";
import type { AuthorizationServerState } from "./_authorization_settings.ts";
import type { Client } from "./_clients.ts";
import { refusal } from "./_refusals.ts";
import {
  newGrant,
  requireGrant,
  requireResource,
  requireSecret,
  USER,
} from "./_requested_grant.ts";
import type { WaitingGrants } from "./_waiting_grants.ts";
import type { TestRequest } from "./request.ts";

interface WaitingServer extends AuthorizationServerState {
  readonly waiting: WaitingGrants;
}

/** In seconds. */
const DEVICE = { expires_in: 600, interval: 1 };

/** A backchannel authentication request contains exactly one. */
const HINTS = ["login_hint", "login_hint_token", "id_token_hint"];

function userOf(issuer: string, { params }: TestRequest): string {
  const hints = HINTS.filter((name) => params.has(name));
  if (hints.length !== 1) {
    const given = hints.join(" and ") || "no hint";
    throw refusal("invalid_request", `Expected one hint, got ${given}`);
  }
  if (params.has("login_hint")) return params.get("login_hint")!;
  if (params.has("login_hint_token")) return USER;
  const { iss, sub } = readClaims(params.get("id_token_hint")!) ?? {};
  if (iss === issuer && typeof sub === "string") return sub;
  throw refusal("unknown_user_id", "id_token_hint is not of this server");
}

export function respondToDevice(
  server: WaitingServer,
  client: Client,
  request: TestRequest,
): Response {
  requireGrant(client, GRANT_TYPE_DEVICE_CODE);
  requireResource(server, request);
  const grant = newGrant(server, client, request, { user: USER });
  return Response.json({
    device_code: server.waiting.add(grant, "device", DEVICE.expires_in),
    user_code: "WDJB-MJHT",
    verification_uri: `${server.issuer}/activate`,
    ...DEVICE,
  });
}

export function respondToBackchannel(
  server: WaitingServer,
  client: Client,
  request: TestRequest,
): Response {
  const { params } = request;
  requireGrant(client, GRANT_TYPE_CIBA);
  requireSecret(client);
  requireResource(server, request);
  if (!params.get("scope")?.split(" ").includes("openid")) {
    throw refusal("invalid_scope", "scope does not contain openid");
  }
  const expiry = params.get("requested_expiry") ?? DEVICE.expires_in;
  if (!/^[1-9]\d*$/.test(`${expiry}`)) {
    throw refusal("invalid_request", "requested_expiry is not positive");
  }
  const expires_in = Number(expiry);
  const user = userOf(server.issuer, request);
  const grant = newGrant(server, client, request, { user });
  return Response.json({
    auth_req_id: server.waiting.add(grant, "authentication", expires_in),
    ...DEVICE,
    expires_in,
  });
}
