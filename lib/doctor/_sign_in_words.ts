/** The result of a sign-in as text for a report. */

import type { DiagnosisStepName } from "./diagnosis.ts";
import type { IDiagnosisSignIn, IDiagnosisToken } from "./sign_in.ts";

/** Formats a number of seconds, in the largest unit that fits. */
export function describeSeconds(seconds: number): string {
  const units = [["days", 86_400], ["hours", 3_600], ["minutes", 60]] as const;
  const [unit, size] = units.find(([, size]) => seconds >= 2 * size) ??
    ["seconds", 1];
  return `${Math.round(seconds / size)} ${unit}`;
}

function describeToken(token: IDiagnosisToken): string {
  const { token_type, scope, expires_in, refresh_expires_in } = token;
  return [
    token_type,
    expires_in === undefined
      ? "unknown lifetime"
      : `valid for ${describeSeconds(expires_in)}`,
    scope === undefined ? "no scope named" : `scope ${scope}`,
    token.hasRefreshToken
      ? "refresh token" +
        (refresh_expires_in === undefined
          ? ""
          : ` valid for ${describeSeconds(refresh_expires_in)}`)
      : "no refresh token",
    ...(token.hasIdToken ? ["ID token"] : []),
  ].join(", ");
}

/** The purposes of requests whose URLs do not show them. */
export const PURPOSES: Partial<Record<DiagnosisStepName, string>> = {
  call: "with the token",
  token: "code",
  refresh: "refresh",
  old_refresh: "replaced refresh token",
  dead_refresh: "dead refresh token",
};

const SOURCES = {
  option: "given",
  client_metadata_document: "its metadata document",
  registration: "registered",
};

const REVOCATIONS = {
  revoked: "done",
  without_effect: "without effect; the tokens may stay valid",
  failed: "failed; the tokens may stay valid",
  unsupported: "not offered; the tokens stay valid until they expire",
};

/** Returns the lines of a sign-in: labels and values. */
export function signInRows(
  signIn: IDiagnosisSignIn | undefined,
): [name: string, text: string][] {
  if (!signIn) return [];
  const { flow, client, token, callStatus, refresh, revocation } = signIn;
  const { isOldRefreshTokenAccepted: isAccepted } = signIn;
  return [
    [
      "Sign-in",
      flow === "code" ? "browser on this device" : "browser on another device",
    ],
    ...(client
      ? [[
        "Client",
        `${client.client_id} (${SOURCES[client.source]})`,
      ] as [string, string]]
      : []),
    ["Token", token ? describeToken(token) : "none"],
    ...(callStatus === undefined
      ? []
      : [["Call", `status ${callStatus}`] as [string, string]]),
    ...(refresh
      ? [[
        "Refresh",
        `${describeToken(refresh)}, ${
          refresh.isRotated ? "a new one" : "the same one"
        }`,
      ] as [string, string]]
      : []),
    ...(isAccepted === undefined ? [] : [[
      "Old token",
      isAccepted ? "accepted once more" : "refused",
    ] as [string, string]]),
    ...(revocation
      ? [["Revocation", REVOCATIONS[revocation]] as [string, string]]
      : []),
  ];
}
