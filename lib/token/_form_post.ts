/** Requests that post a form to an endpoint of an authorization server. */

import { requireArgument } from "../core/_arguments.ts";
import {
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
import type { IAuthorizationServerMetadata } from "../core/metadata.ts";
import { errorMembers } from "../client/_error_members.ts";
import type { IClientAuthentication } from "../client/authentication.ts";
import {
  authenticationOf,
  noteUnencoded,
} from "../client/authentication_selection.ts";
import type { IDpop } from "../client/dpop.ts";
import { underClock } from "../http/_clock.ts";
import { cleanErrorResponse, secretsOf } from "../http/_redact.ts";
import { type IRequest, mergeHeaders, send } from "../http/_request.ts";
import {
  FORM,
  type IResponse,
  isForm,
  responseError,
} from "../http/_response.ts";
import { hintFor, requestOf } from "./_refused_form.ts";
import type { IFormRequestOptions } from "./form_options.ts";
import { type ITransport, transportOf } from "../http/_transport.ts";
import type { RequestPurpose } from "../http/request_options.ts";

type FormEndpointName = Extract<
  EndpointName,
  | "token_endpoint"
  | "device_authorization_endpoint"
  | "revocation_endpoint"
  | "pushed_authorization_request_endpoint"
>;

type FormServerMetadata =
  & EndpointMetadata<FormEndpointName>
  & Pick<IAuthorizationServerMetadata, "token_endpoint_auth_methods_supported">;

/** A form as it was sent, its response, and the members of the body. */
export interface IFormResponse {
  readonly request: IRequest;
  readonly response: IResponse;
  /** The members of the body; those that are `null` count as absent. */
  readonly members: Members;
}

/** Reads a body as a form or as JSON. */
function membersOf(response: IResponse): Members {
  const { text = "" } = response;
  // A form is ASCII; a replacement character would become part of the token.
  const value = isForm(response) && !text.includes("\ufffd")
    ? Object.fromEntries(new URLSearchParams(text))
    : withoutNulls(response.json);
  return isMembers(value) ? value : {};
}

/** Checks whether a server has refused the credentials of a client. */
function isRefused({ response: { status, text }, members }: IFormResponse) {
  const error = stringMember(members, "error");
  return error === undefined
    ? (status === 401 || status === 403) && text === ""
    : status < 500 && /^(invalid|unauthorized)_client$/.test(error);
}

/**
 * Checks whether a server has accepted the credentials of a client; the request may
 * have failed for another reason, such as a device code that is pending.
 */
function isAccepted(exchange: IFormResponse): boolean {
  const { response: { status, ok }, members } = exchange;
  return !isRefused(exchange) && (ok || (status < 500 && "error" in members));
}

/**
 * Fails unless the last response is successful; an `error` counts at any status. The
 * error repeats no value that this or an earlier request has sent.
 */
function requireSuccess(
  exchange: IFormResponse,
  requests: readonly IRequest[],
  purpose: RequestPurpose,
  hint: string,
  earlier: readonly string[],
): void {
  const { response, members } = exchange;
  const { url, status, ok, text, failure } = response;
  const request = requestOf({ ...requests.at(-1) });
  const failed = (problem: string, error?: string) =>
    `The ${purpose.replaceAll("_", " ")} request to ${quoteUrl(url)} failed: ` +
    problem.trimEnd() + hintFor(response, error, requests) +
    (isRefused(exchange) ? hint : "");
  if (stringMember(members, "error")) {
    const sent = requests.flatMap(({ headers, body }) =>
      secretsOf(headers, body)
    );
    const secrets = [...earlier, ...sent];
    const details = errorMembers(members, secrets);
    const problem = [details.error, details.error_description]
      .filter(Boolean).join(": ");
    const message = failed(`${status} ${problem}`, details.error);
    throw responseError(response, "oauth_error", message, {
      ...details,
      request,
      errorResponse: cleanErrorResponse(members, text, secrets),
    });
  }
  // The content of the response to a revocation is ignored (RFC 7009, section 2.2).
  if (failure && !(ok && purpose === "revocation")) throw failure;
  if (!ok) {
    const message = failed(`expected status 2xx, got ${status}`);
    const { json } = response;
    const isEmpty = text?.trim() === "" ||
      (isMembers(json) && Object.keys(json).length === 0);
    throw responseError(response, "unexpected_status", message, {
      request,
      ...(isEmpty && { errorResponse: {} }),
    });
  }
}

/** Returns the members of a caller's options that a form request uses. */
export function formOptionsOf(
  options: IFormRequestOptions | undefined,
): IFormRequestOptions {
  const { headers, client, dpop, allowHttp } = options ?? {};
  return { ...transportOf(options), headers, client, dpop, allowHttp };
}

/** What is sent, and to which endpoint. */
interface IForm {
  readonly url: string;
  readonly purpose: RequestPurpose;
  readonly serverMetadata: EndpointMetadata<"token_endpoint">;
  readonly form: URLSearchParams;
}

/** The client that sends a form, and the header fields that the caller adds. */
interface ISender extends Pick<IFormRequestOptions, "headers"> {
  readonly client: IClientAuthentication | undefined;
  readonly dpop: IDpop | undefined;
}

/** Sends a form once, with fresh credentials and a fresh DPoP proof. */
async function sendForm(
  { url, purpose, serverMetadata, form }: IForm,
  { client, dpop, headers: further }: ISender,
  transport: ITransport,
): Promise<IFormResponse> {
  return await underClock(url, transport, async (signal) => {
    const body = new URLSearchParams(form);
    const own: Record<string, string> = { "Content-Type": FORM };
    await client?.authenticate({ serverMetadata, body, headers: own, signal });
    // Also a parameter of the authorization request (RFC 9126, section 2.1).
    if (client && purpose === "pushed_authorization") {
      body.set("client_id", client.clientId);
    }
    signal.throwIfAborted();
    if (dpop) own.DPoP = await dpop.createProof({ method: "POST", url });
    signal.throwIfAborted();
    const headers = mergeHeaders(
      { Accept: "application/json", ...own },
      further,
      own,
    );
    const request = { url, purpose, headers, body: body.toString() };
    const response = await send(request, transport, signal);
    dpop?.noteResponse(url, response);
    return { request, response, members: membersOf(response) };
  });
}

/**
 * Posts a form to an endpoint and returns the members of a successful response.
 * With DPoP the request is repeated once if the server requires a nonce (RFC 9449,
 * section 8).
 *
 * RFC 6749, section 2.3.1, requires form-encoded Basic credentials, but many servers
 * compare them without decoding. So if encoded credentials are refused, the request is
 * repeated once with unencoded ones; no server is known that has redeemed the code by
 * then.
 */
export async function postForm(
  serverMetadata: FormServerMetadata,
  endpoint: FormEndpointName,
  form: URLSearchParams,
  options: IFormRequestOptions,
): Promise<IFormResponse> {
  const transport = transportOf(options);
  const { client, allowHttp, dpop, headers } = options;
  // With a plain object, even "undefined" would be sent.
  requireArgument(form instanceof URLSearchParams, "body", "URLSearchParams");
  const url = requireEndpoint(serverMetadata, endpoint, allowHttp);
  const authentication = client && authenticationOf(client, serverMetadata);
  // Each endpoint is named after the purpose of its requests.
  const purpose = endpoint
    .replace(/(_request)?_endpoint$/, "") as RequestPurpose;
  const what = { url, purpose, serverMetadata, form };
  const requests: IRequest[] = [];
  const postOnce = async (client: IClientAuthentication | undefined) => {
    const exchange = await sendForm(what, { client, dpop, headers }, transport);
    requests.push(exchange.request);
    return exchange;
  };
  const post = async (client: IClientAuthentication | undefined) => {
    const first = await postOnce(client);
    const needsNonce = dpop && first.members.error === "use_dpop_nonce" &&
      first.response.headers.get("DPoP-Nonce");
    return needsNonce ? await postOnce(client) : first;
  };

  let last = await post(authentication);
  let hint = "";
  if (client && isRefused(last)) {
    const { unencoded } = authentication ?? {};
    if (unencoded) {
      last = await post(unencoded);
      hint = " (credentials sent with formEncode true, then false)";
    }
    noteUnencoded(client, unencoded !== undefined && isAccepted(last));
  }
  requireSuccess(last, requests, purpose, hint, transport.secrets);
  return last;
}
