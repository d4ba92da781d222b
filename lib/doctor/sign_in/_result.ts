import { requireArgument, requireObject } from "../../core/_arguments.ts";
import { requireBoundClient } from "../../client/_authentication_selection.ts";
import type { Token } from "../../token/token.ts";
import {
  type Facts,
  isStillValid,
  shown,
  type SignInFacts,
} from "../_facts.ts";
import { lastOf } from "./_steps.ts";
import type {
  DiagnoseSignIn,
  DiagnosisSignIn,
  DiagnosisToken,
} from "./sign_in.ts";

export function requireSignIn(signIn: DiagnoseSignIn | undefined): void {
  if (signIn === undefined) return;
  const given = requireObject("signIn", signIn);
  const { visit, show } = given as { visit?: unknown; show?: unknown };
  requireArgument(
    typeof visit === "function" || typeof show === "function",
    "signIn",
    "an object with visit or show, like a flow",
  );
  requireBoundClient(given.client);
}

function describeToken(token: Token, receivedAt: number): DiagnosisToken {
  const { token_type = "Bearer", scope, expires_in, refresh_expires_at } =
    token;
  const refreshSeconds = Math.round((refresh_expires_at ?? NaN) - receivedAt);
  return {
    token_type: shown(token_type, 40),
    ...(scope !== undefined && { scope: shown(scope, 500) }),
    ...(expires_in !== undefined && { expires_in }),
    hasRefreshToken: Boolean(token.refresh_token),
    ...(refreshSeconds >= 0 && { refresh_expires_in: refreshSeconds }),
    hasIdToken: Boolean(token.id_token),
  };
}

/** When an expiring token was received, in seconds since the Unix epoch. */
function receivedAt({ expires_at = NaN, expires_in = NaN }: Token): number {
  return expires_at - expires_in;
}

/** Returns the result of a sign-in, without tokens and secrets. */
export function describeSignIn(
  { exchanges }: Facts,
  signIn: SignInFacts,
): DiagnosisSignIn {
  const {
    flow,
    client,
    isClientGiven,
    deletion,
    requestedScopes,
    session,
    call,
    refresh,
    revocation,
  } = signIn;
  const { token } = session ?? {};
  const { token: fresh } = refresh?.session ?? {};
  const status = call?.response?.status;
  return {
    flow,
    ...(client && {
      client: {
        client_id: shown(client.client_id, 300),
        source: isClientGiven
          ? "option"
          : lastOf(exchanges, "registration")
          ? "registration"
          : "client_metadata_document",
        ...(deletion && { isDeleted: !deletion.error }),
      },
    }),
    requestedScopes: requestedScopes.map((scope) => shown(scope, 200)),
    ...(token && { token: describeToken(token, receivedAt(token)) }),
    ...(status !== undefined && { callStatus: status }),
    ...(fresh && {
      refresh: {
        ...describeToken(fresh, receivedAt(fresh)),
        isRotated: fresh.refresh_token !== token?.refresh_token,
      },
    }),
    ...(revocation && {
      revocation: !revocation.error
        ? isStillValid(signIn)
          ? "without_effect"
          : revocation.kept
          ? "refresh_token_only"
          : "revoked"
        : revocation.error.code === "unsupported"
        ? "unsupported"
        : "failed",
    }),
  };
}
