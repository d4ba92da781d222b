/** The request to a registration endpoint, and its response (RFC 7591, section 3). */

import { errorCodeOf, stringMember } from "../core/_members.ts";
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
): { error?: string; error_description?: string | undefined } {
  if (!isAuthorizationRegistrationErrorResponse(json)) return {};
  const members = { ...json };
  const error = errorCodeOf(json.error);
  if (error === undefined) return {};
  const description = stringMember(members, "error_description");
  return { error, error_description: cleanText(description, secrets) };
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

/** The error of a response whose body could not be read. */
function unreadError(
  response: IResponse,
  failure: OAuthClientError,
  start: string,
  secrets: readonly string[],
): OAuthClientError {
  const cause = failure.cause ?? failure;
  const problem = cause instanceof Error ? cause.message : String(cause);
  const code = response.ok || failure.code === "redirect_refused"
    ? failure.code
    : "unexpected_status";
  const message = start + redact(problem, secrets);
  return responseError(response, code, message, { cause });
}

/** Returns the registration in a response; fails if there is none. */
function readRegistration(
  endpoint: string,
  response: IResponse,
  secrets: readonly string[],
): IAuthorizationDynamicClientRegistrationResponse {
  const { ok, json, failure } = response;
  const start = ok
    ? "Invalid authorization dynamic client registration response: "
    : `Registration to ${quoteUrl(endpoint)} failed: `;
  if (failure) throw unreadError(response, failure, start, secrets);
  if (ok && isAuthorizationDynamicClientRegistrationResponse(json)) return json;
  // Some servers send error responses with status 200.
  const members = errorMembers(json, secrets);
  const code = ok ? "invalid_response" : "unexpected_status";
  const shown = ok ? bodyOf(response) : detailsOf(response);
  throw responseError(
    response,
    members.error === undefined ? code : "oauth_error",
    start + redact(shown, secrets),
    members,
  );
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
