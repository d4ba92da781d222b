/** The request to a registration endpoint, and its response (RFC 7591, section 3). */

import { errorCodeOf, isMembers, stringMember } from "../core/_members.ts";
import { quoteJson } from "../core/_quote.ts";
import { quoteUrl } from "../core/_url.ts";
import { OAuthClientError } from "../core/errors.ts";
import {
  isAuthorizationDynamicClientRegistrationResponse,
  isAuthorizationRegistrationErrorResponse,
} from "../core/guards.ts";
import type {
  IAuthorizationDynamicClientRegistrationRequest,
  IAuthorizationDynamicClientRegistrationResponse,
} from "../core/types.ts";
import { cleanText, redact, secretsOf } from "../http/_redact.ts";
import { request } from "../http/_request.ts";
import { type IResponse, responseError } from "../http/_response.ts";
import type { IRequestOptions } from "../http/request_options.ts";

function toJson(
  metadata: IAuthorizationDynamicClientRegistrationRequest,
): string {
  try {
    return JSON.stringify(metadata);
  } catch (cause) {
    const message = "Client metadata must be an object that JSON can represent";
    throw new OAuthClientError("invalid_argument", message, { cause });
  }
}

/** Returns the code and the description that an error object may repeat. */
function errorMembers(
  json: unknown,
  secrets: readonly string[],
): { error?: string | undefined; error_description?: string | undefined } {
  const members = isMembers(json) ? json : {};
  return {
    error: errorCodeOf(members.error),
    error_description: cleanText(
      stringMember(members, "error_description"),
      secrets,
    ),
  };
}

/** Returns why the server refused the registration. */
function detailsOf({ json, text = "" }: IResponse): string {
  if (!isAuthorizationRegistrationErrorResponse(json)) return text;
  // Some servers send objects or numbers.
  const toText = (value: unknown) =>
    typeof value === "string" ? value : quoteJson(value);
  const { error, error_description } = json;
  return error_description
    ? `${toText(error)}: ${toText(error_description)}`
    : toText(error);
}

/** Returns the body of a response that is not a registration. */
function bodyOf({ json, text }: IResponse): string {
  return json === undefined && text !== undefined ? text : quoteJson(json);
}

/** Returns why a response whose body could not be read failed. */
function readingProblem({ cause, message }: OAuthClientError): string {
  return cause instanceof Error ? cause.message : String(cause ?? message);
}

/** Returns the registration in a response; fails if there is none. */
function readRegistration(
  endpoint: string,
  response: IResponse,
  secrets: readonly string[],
): IAuthorizationDynamicClientRegistrationResponse {
  const { ok, json, text, failure } = response;
  const isRegistration = isAuthorizationDynamicClientRegistrationResponse(json);
  if (ok && !failure && isRegistration) return json;
  const start = ok
    ? "Invalid authorization dynamic client registration response: "
    : `Registration to ${quoteUrl(endpoint)} failed: `;
  const isRead = json !== undefined || text !== undefined;
  const problem = failure && !isRead
    ? readingProblem(failure)
    : ok
    ? bodyOf(response)
    : detailsOf(response);
  // Some servers send error responses with status 200.
  const isError = isMembers(json) && stringMember(json, "error") !== undefined;
  const code = isError
    ? "oauth_error"
    : failure && (ok || failure.code === "redirect_refused")
    ? failure.code
    : ok
    ? "invalid_response"
    : "unexpected_status";
  throw responseError(response, code, start + redact(problem, secrets), {
    ...(isError && errorMembers(json, secrets)),
    cause: failure && (isRead ? failure : failure.cause ?? failure),
  });
}

/** Sends client metadata to a registration endpoint, and reads the registration. */
export async function postRegistration(
  url: string,
  headers: Readonly<Record<string, string>>,
  metadata: IAuthorizationDynamicClientRegistrationRequest,
  options: IRequestOptions,
): Promise<IAuthorizationDynamicClientRegistrationResponse> {
  const body = toJson(metadata);
  const response = await request(
    { url, purpose: "registration", headers, body },
    options,
  );
  return readRegistration(url, response, secretsOf(headers, body));
}
