/** What a form says about the failure, after the server has refused it. */

import { isTemporary } from "../core/advice.ts";
import {
  GRANT_TYPE_JWT_BEARER,
  GRANT_TYPE_TOKEN_EXCHANGE,
} from "../core/constants.ts";
import type { OAuthClientErrorRequest } from "../core/errors.ts";
import { basicValues } from "../http/_redact.ts";
import type { IRequest } from "../http/_request.ts";
import type { IResponse } from "../http/_response.ts";

/** What may help where a server refuses the resource of a request. */
export const RESOURCE_HINT =
  "for a server that rejects the parameter resource, set resource: false";

/** What helps where a server requires a proof. */
const DPOP_HINT = "the server requires DPoP: set dpop";

/** The grant types by which an assertion is exchanged for a token. */
const ASSERTION_GRANTS: readonly string[] = [
  GRANT_TYPE_JWT_BEARER,
  GRANT_TYPE_TOKEN_EXCHANGE,
];

/** Returns the kind of a request, if it determines what to do after a failure. */
export function requestOf(
  { body }: Pick<IRequest, "body">,
): OAuthClientErrorRequest | undefined {
  const grant = new URLSearchParams(body).get("grant_type") ?? "";
  if (grant === "refresh_token") return "refresh";
  return ASSERTION_GRANTS.includes(grant) ? "assertion" : undefined;
}

/** Checks whether form-encoding changes Basic credentials that a request has sent. */
function dependsOnEncoding({ headers }: IRequest): boolean {
  const [pair = ""] = basicValues(headers.Authorization ?? "");
  return /[^\w.*-]/.test(pair.replace(":", ""));
}

/**
 * Returns the options that may help after the server has refused requests, as the end
 * of a message. It contains no value that was sent.
 */
export function hintFor(
  { status, text }: IResponse,
  error: string | undefined,
  requests: readonly IRequest[],
): string {
  if (isTemporary(status)) return "";
  const form = new URLSearchParams(requests.at(-1)?.body);
  const isBare = error === undefined && status >= 400 && status < 500;
  const isClientRefused = isBare
    ? text === "" && [401, 403].includes(status)
    : error === "invalid_client" || error === "unauthorized_client";
  const authorizations = requests.map(({ headers }) => headers.Authorization);
  const hints: [applies: boolean, hint: string][] = [
    [
      form.has("resource") && (isBare || error === "invalid_target"),
      RESOURCE_HINT,
    ],
    [
      /^(invalid_dpop_proof|use_dpop_nonce)$/.test(error ?? "") &&
      requests.every(({ headers }) => headers.DPoP === undefined),
      DPOP_HINT,
    ],
    [
      form.has("client_assertion") && error === "invalid_client",
      "servers differ in the aud and typ of the client assertion that they " +
      "accept: see audience and type of privateKeyJwt",
    ],
    [
      isClientRefused && new Set(authorizations).size === 1 &&
      requests.some(dependsOnEncoding),
      "servers differ in whether they decode such Basic credentials: see " +
      "formEncode of clientSecretBasic",
    ],
  ];
  return hints.filter(([applies]) => applies).map(([, hint]) => ` (${hint})`)
    .join("");
}
