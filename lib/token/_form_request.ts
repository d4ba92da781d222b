/** Requests that post a form to an endpoint of an authorization server. */

import { requireArgument, requireObject } from "../core/_arguments.ts";
import {
  errorCodeOf,
  isMembers,
  type Members,
  stringMember,
  withoutNulls,
} from "../core/_members.ts";
import {
  type EndpointMetadata,
  type EndpointName,
  quoteUrl,
  requireEndpoint,
} from "../core/_url.ts";
import { requireSameIssuer } from "../client/_issuer.ts";
import type { IFormRequestOptions } from "../client/authentication.ts";
import { underClock } from "../http/_clock.ts";
import { cleanErrorResponse, cleanText, secretsOf } from "../http/_redact.ts";
import { mergeHeaders, requireOptions, send } from "../http/_request.ts";
import {
  FORM,
  type IResponse,
  isForm,
  responseError,
} from "../http/_response.ts";
import type { RequestPurpose } from "../http/request_options.ts";

type FormEndpointName = Extract<
  EndpointName,
  | "token_endpoint"
  | "device_authorization_endpoint"
  | "revocation_endpoint"
  | "pushed_authorization_request_endpoint"
>;

/** A kind of request. */
interface IRequestKind {
  readonly purpose: RequestPurpose;
  /** Its name in messages. */
  readonly name: string;
  /** The status of a success in messages, if not 200. */
  readonly expectedStatus?: number;
  /** Whether the content of a success is ignored. */
  readonly ignoresContent?: true;
}

/** The kind of request that each endpoint receives. */
const REQUESTS: Record<FormEndpointName, IRequestKind> = {
  token_endpoint: { purpose: "token", name: "Token request" },
  device_authorization_endpoint: {
    purpose: "device_authorization",
    name: "Device authorization request",
  },
  pushed_authorization_request_endpoint: {
    purpose: "pushed_authorization",
    name: "Pushed authorization request",
    expectedStatus: 201,
  },
  // The content of its response is ignored (RFC 7009, section 2.2).
  revocation_endpoint: {
    purpose: "revocation",
    name: "Revocation request",
    ignoresContent: true,
  },
};

/** A successful response to a form, and its members. */
export interface IFormResponse {
  readonly response: IResponse;
  /** The members of the body; those that are `null` count as absent. */
  readonly members: Members;
}

/** A response with what was sent, which its errors must not repeat. */
interface IExchange extends IFormResponse {
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Reads a body as a form or as JSON. */
function membersOf(response: IResponse): Members {
  const { text = "" } = response;
  // A form is ASCII; a replacement character would become a part of the token.
  const value = isForm(response) && !text.includes("\ufffd")
    ? Object.fromEntries(new URLSearchParams(text))
    : withoutNulls(response.json);
  return isMembers(value) ? value : {};
}

/** Fails unless the response is a success; an `error` counts at any status. */
function requireSuccess(
  { name, expectedStatus = 200, ignoresContent }: IRequestKind,
  { response, members }: IFormResponse,
  exchanges: readonly IExchange[],
): void {
  const { url, status, ok, text, failure } = response;
  const failed = `${name} to ${quoteUrl(url)} failed:`;
  const errorMember = stringMember(members, "error");
  if (errorMember !== undefined) {
    const secrets = exchanges.flatMap(({ headers, body }) =>
      secretsOf(headers, body)
    );
    const error = errorCodeOf(errorMember);
    const message = `${failed} ${status}${error ? ` ${error}` : ""}`;
    const clean = (member: string) =>
      cleanText(stringMember(members, member), secrets);
    throw responseError(response, "oauth_error", message, {
      error,
      error_description: clean("error_description"),
      error_uri: clean("error_uri"),
      errorResponse: cleanErrorResponse(members, text, secrets),
    });
  }
  if (failure && !(ok && ignoresContent)) throw failure;
  if (!ok) {
    const message =
      `${failed} expected status ${expectedStatus}, got ${status}`;
    throw responseError(response, "unexpected_status", message);
  }
}

/** Sends a form once, with fresh credentials and a fresh DPoP proof. */
async function sendForm(
  url: string,
  purpose: RequestPurpose,
  serverMetadata: EndpointMetadata<"token_endpoint">,
  form: URLSearchParams,
  { client, dpop, headers: further, ...options }: IFormRequestOptions,
): Promise<IExchange> {
  return await underClock(url, options, async (signal) => {
    const parameters = new URLSearchParams(form);
    const own: Record<string, string> = { "Content-Type": FORM };
    await client?.authenticate({
      serverMetadata,
      body: parameters,
      headers: own,
      signal,
    });
    signal.throwIfAborted();
    if (dpop) own.DPoP = await dpop.createProof({ method: "POST", url });
    signal.throwIfAborted();
    const headers = mergeHeaders(
      { Accept: "application/json", ...own },
      further,
      own,
    );
    const body = parameters.toString();
    const request = { url, purpose, headers, body };
    const response = await send(request, options, signal);
    return { response, members: membersOf(response), headers, body };
  });
}

/**
 * Posts a form to an endpoint and returns the members of a successful response.
 * With DPoP the request is repeated once if the server requires a nonce (RFC 9449,
 * section 8).
 */
export async function postForm(
  serverMetadata: EndpointMetadata<FormEndpointName>,
  endpoint: FormEndpointName,
  form: URLSearchParams,
  options: IFormRequestOptions | undefined,
): Promise<IFormResponse> {
  const { allowHttp, ...given } = requireOptions(options);
  const { client, dpop } = given;
  requireObject("serverMetadata", serverMetadata);
  requireArgument(form instanceof URLSearchParams, "body", "URLSearchParams");
  requireArgument(
    client === undefined || typeof client?.authenticate === "function",
    "options.client",
    "an IClientAuthentication",
  );
  requireArgument(
    dpop === undefined || typeof dpop?.createProof === "function",
    "options.dpop",
    "the result of createDpop()",
  );
  const url = requireEndpoint(serverMetadata, endpoint, allowHttp);
  requireSameIssuer(client?.issuer, serverMetadata.issuer);
  const kind = REQUESTS[endpoint];
  const { purpose } = kind;
  const first = await sendForm(url, purpose, serverMetadata, form, given);
  const { members, response } = first;
  dpop?.noteResponse(url, response);
  const needsNonce = members.error === "use_dpop_nonce" &&
    response.headers.get("DPoP-Nonce");
  if (!dpop || !needsNonce) {
    requireSuccess(kind, first, [first]);
    return first;
  }
  const second = await sendForm(url, purpose, serverMetadata, form, given);
  dpop.noteResponse(url, second.response);
  requireSuccess(kind, second, [first, second]);
  return second;
}
