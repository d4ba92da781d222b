/** The request to a registration endpoint, and its response (RFC 7591, section 3). */

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

/** Quotes a string as it is, and any other value as JSON. */
function quoted(value: unknown): Quoted {
  return typeof value === "string" ? value : { json: value };
}

/** Returns why a response contains no registration. */
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
  // As JSON, it is quoted without credentials. Only json() of a minimal response leaves
  // neither: as `JSON.stringify` words it.
  const isJson = ok || CREDENTIAL_MEMBERS.some((name) => text?.includes(name));
  return isJson && json !== undefined ? { json } : text ?? "undefined";
}

/** What surrounds the metadata of a registration. */
export interface RegistrationPost {
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Returns what may help after a response with a status. */
  readonly hintFor?: ((status: number) => readonly Hint[]) | undefined;
}

/** Sends client metadata to a registration endpoint, and reads the registration. */
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
