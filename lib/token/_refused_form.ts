/** Reads a rejected form's error, and finds options that may fix it. */

import {
  BARE_ERROR,
  BARE_REFUSAL,
  hintsFor,
  RESOURCE_HINT,
  standardCode,
} from "../core/_hints.ts";
import { type Members, stringMember } from "../core/_members.ts";
import { isTemporary } from "../core/advice.ts";
import { findChallenge } from "../core/challenge.ts";
import {
  GRANT_TYPE_JWT_BEARER,
  GRANT_TYPE_TOKEN_EXCHANGE,
} from "../core/constants.ts";
import type { OAuthClientErrorRequest } from "../core/errors.ts";
import { literal, type Message, words } from "../http/_error.ts";
import { basicValues } from "../http/_redact.ts";
import type { IRequest } from "../http/_request.ts";
import type { IResponse } from "../http/_response.ts";
import type { RequestPurpose } from "../http/request_options.ts";

const ASSERTION_GRANTS: readonly string[] = [
  GRANT_TYPE_JWT_BEARER,
  GRANT_TYPE_TOKEN_EXCHANGE,
];

const AUTHORIZATIONS: readonly RequestPurpose[] = [
  "pushed_authorization",
  "device_authorization",
  "backchannel_authentication",
];

export function requestOf(
  { purpose, body }: IRequest,
): OAuthClientErrorRequest | undefined {
  if (AUTHORIZATIONS.includes(purpose)) return "authorization";
  const grant = new URLSearchParams(body).get("grant_type") ?? "";
  if (grant === "refresh_token") return "refresh";
  return ASSERTION_GRANTS.includes(grant) ? "assertion" : undefined;
}

/** Checks whether a body is a page, for example from a proxy. */
export function isPage(text: string | undefined): boolean {
  return /^\s*</.test(text ?? "");
}

/** Checks whether form-encoding changes the sent Basic credentials. */
function dependsOnEncoding({ headers }: IRequest): boolean {
  const [pair = ""] = basicValues(headers.Authorization ?? "");
  return /[^\w.*-]/.test(pair.replace(":", ""));
}

/** Returns options that may help after a rejection. They contain no sent value. */
export function refusedFormHint(
  { status, text }: IResponse,
  error: string | undefined,
  requests: readonly IRequest[],
): Message {
  if (isTemporary(status)) return literal("");
  const form = new URLSearchParams(requests.at(-1)?.body);
  const isRefusal = text === "" && [401, 403].includes(status);
  const bare = isRefusal ? BARE_REFUSAL : BARE_ERROR;
  const isBare = status >= 400 && status < 500;
  const authorizations = requests.map(({ headers }) => headers.Authorization);
  const { size } = new Set(authorizations);
  const ofClient = ["invalid_client", BARE_REFUSAL];
  const ofCredentials = [...ofClient, "unauthorized_client"];
  const code = error ?? (isBare ? bare : "");
  const isUnread = ["", BARE_ERROR].includes(code) && isPage(text);
  const hints = hintsFor(code, [
    [
      ["invalid_target", BARE_ERROR, BARE_REFUSAL],
      form.has("resource"),
      RESOURCE_HINT,
    ],
    [
      ["invalid_dpop_proof", "use_dpop_nonce"],
      requests.every(({ headers }) => headers.DPoP === undefined),
      { option: "dpop", text: "the server requires DPoP: set dpop" },
    ],
    [
      ["invalid_client"],
      form.has("client_assertion"),
      // Servers also differ in the `aud` and `typ` that they accept.
      {
        option: "privateKeyJwt",
        text: "check that the server knows the key and its kid; then see " +
          "audience and type of privateKeyJwt",
      },
    ],
    [
      ofCredentials,
      // Servers differ in whether they decode such Basic credentials.
      size === 1 && requests.some(dependsOnEncoding),
      { option: "formEncode", text: "see formEncode of clientSecretBasic" },
    ],
    [
      ofClient,
      authorizations.at(-1) !== undefined,
      {
        option: "clientSecretPost",
        text: "client_secret was in the header: see clientSecretPost",
      },
    ],
    [
      ofClient,
      form.has("client_secret"),
      {
        option: "clientSecretBasic",
        text: "client_secret was in the body: see clientSecretBasic",
      },
    ],
    [
      ofCredentials,
      size > 1,
      {
        option: "formEncode",
        text: "credentials sent with formEncode true, then false",
      },
    ],
  ]);
  const page = isUnread ? " (it returns a page, not JSON: check the URL)" : "";
  return words`${literal(page)}${hints}`;
}

/**
 * Returns an error code. Only `invalid_client` occurs with a 401 and a Basic challenge
 * (RFC 6749, section 5.2). The body may be a word or a page if a framework, such as
 * `passport-http`, checks the client first.
 */
export function errorCodeIn(
  { status, headers }: IResponse,
  members: Members,
): string | undefined {
  return stringMember(members, "error") ??
    (status === 401 && findChallenge({ headers }, ["Basic"])
      ? "invalid_client"
      : undefined);
}

type Refusal = Pick<IResponse, "status" | "text">;

export function refusesClient(
  { status, text }: Refusal,
  error: string | undefined,
): boolean {
  return error === undefined
    ? (status === 401 || status === 403) && text === ""
    : status < 500 &&
      /^(invalid|unauthorized)_client$/.test(standardCode(error));
}
