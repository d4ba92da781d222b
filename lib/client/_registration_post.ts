/** The request to a registration endpoint, and its response (RFC 7591, section 3). */

import { isMembers, stringMember } from "../core/_members.ts";
import { quote, quoteJson } from "../core/_quote.ts";
import { quoteUrl } from "../core/_url.ts";
import {
  isAuthorizationDynamicClientRegistrationResponse,
  isAuthorizationRegistrationErrorResponse,
} from "../core/guards.ts";
import type {
  IAuthorizationDynamicClientRegistrationRequest,
  IAuthorizationDynamicClientRegistrationResponse,
} from "../core/types.ts";
import { secretsOf } from "../http/_redact.ts";
import { request } from "../http/_request.ts";
import { type IResponse, responseError } from "../http/_response.ts";
import type { ITransport } from "../http/_transport.ts";
import { errorMembers } from "./_error_members.ts";

/** Returns a string unchanged, and any other value as JSON. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : quoteJson(value);
}

/** Returns why a response contains no registration. */
function problemOf({ ok, json, text, failure }: IResponse): string {
  if (failure && text === undefined) {
    const { cause = failure } = failure;
    return cause instanceof Error ? cause.message : String(cause);
  }
  if (!ok && isAuthorizationRegistrationErrorResponse(json)) {
    const { error, error_description } = json;
    return error_description
      ? `${textOf(error)}: ${textOf(error_description)}`
      : textOf(error);
  }
  // Only json() of a minimal response leaves neither: as `JSON.stringify` words it.
  return ok && json !== undefined ? quoteJson(json) : text ?? "undefined";
}

/** Sends client metadata to a registration endpoint, and reads the registration. */
export async function postRegistration(
  url: string,
  headers: Readonly<Record<string, string>>,
  metadata: IAuthorizationDynamicClientRegistrationRequest,
  transport: ITransport,
): Promise<IAuthorizationDynamicClientRegistrationResponse> {
  const body = JSON.stringify(metadata);
  const response = await request(
    { url, purpose: "registration", headers, body },
    transport,
  );
  const { ok, json, failure } = response;
  const isRegistration = isAuthorizationDynamicClientRegistrationResponse(json);
  if (ok && !failure && isRegistration) return json;
  const secrets = [...transport.secrets, ...secretsOf(headers, body)];
  // Some servers send error responses with status 200.
  const isError = isMembers(json) && stringMember(json, "error");
  const code = isError
    ? "oauth_error"
    : ok || failure?.code === "redirect_refused"
    ? failure?.code ?? "invalid_response"
    : "unexpected_status";
  const start = ok
    ? "Invalid authorization dynamic client registration response: "
    : `Registration to ${quoteUrl(url)} failed: `;
  const message = start + quote(problemOf(response), secrets);
  throw responseError(response, code, message, {
    ...(isError && errorMembers(json, secrets)),
    request: "registration",
    cause: failure?.cause ?? failure,
  });
}
