/** The registration request and its response (RFC 7591, section 3). */

import type { Hint } from "../core/errors.ts";
import { isMembers, stringMember } from "../core/_members.ts";
import { CREDENTIAL_MEMBERS } from "../core/_quote.ts";
import {
  isAuthorizationDynamicClientRegistrationResponse,
  isAuthorizationRegistrationErrorResponse,
} from "../core/guards.ts";
import type {
  IAuthorizationDynamicClientRegistrationRequest,
  IAuthorizationDynamicClientRegistrationResponse,
} from "../core/types.ts";
import { type Context, secretsIn } from "../http/_context.ts";
import { joined, type Quoted, words } from "../http/_error.ts";
import { request } from "../http/_request.ts";
import { type IResponse, responseError } from "../http/_response.ts";
import { errorMembers } from "./_error_members.ts";

function quoted(value: unknown): Quoted {
  return typeof value === "string" ? value : { json: value };
}

function registrationProblem({ ok, json, text, failure }: IResponse): Quoted {
  if (failure && text === undefined) {
    const { cause = failure } = failure;
    return cause instanceof Error ? cause.message : String(cause);
  }
  if (!ok && isAuthorizationRegistrationErrorResponse(json)) {
    const { error, error_description } = json;
    return error_description
      ? joined([quoted(error), quoted(error_description)], ": ")
      : quoted(error);
  }
  // JSON is quoted without credentials. A minimal response's `json()` alone leaves
  // neither text nor JSON.
  const isJson = ok || CREDENTIAL_MEMBERS.some((name) => text?.includes(name));
  return isJson && json !== undefined ? { json } : text ?? "undefined";
}

export interface RegistrationPost {
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Options that may help after a response status. */
  readonly hintFor?: ((status: number) => readonly Hint[]) | undefined;
}

export async function postRegistration(
  context: Context,
  url: string,
  metadata: IAuthorizationDynamicClientRegistrationRequest,
  { headers = {}, hintFor }: RegistrationPost,
): Promise<IAuthorizationDynamicClientRegistrationResponse> {
  const response = await request(
    {
      url,
      purpose: "registration",
      headers,
      body: JSON.stringify(metadata),
    },
    context,
  );
  const { ok, json, failure } = response;
  const isRegistration = isAuthorizationDynamicClientRegistrationResponse(json);
  if (ok && !failure && isRegistration) return json;
  // Some servers send error responses with status 200.
  const isError = isMembers(json) && stringMember(json, "error");
  const code = isError
    ? "oauth_error"
    : ok || failure?.code === "redirect_refused"
    ? failure?.code ?? "invalid_response"
    : "unexpected_status";
  const found = registrationProblem(response);
  const { status } = response;
  // The literal layer omits the status.
  const problem = hintFor
    ? joined([`${status}`, found].filter(Boolean), ": ")
    : found;
  const message = ok && !hintFor
    ? words`Invalid authorization dynamic client registration response: ${problem}`
    : words`Registration to ${{ url }} failed: ${problem}${
      hintFor?.(status) ?? []
    }`;
  throw responseError(context, response, code, message, {
    ...(isError && errorMembers(json, secretsIn(context))),
    request: "registration",
    cause: failure?.cause ?? failure,
  });
}
