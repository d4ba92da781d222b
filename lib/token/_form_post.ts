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
  requireEndpoint,
} from "../core/_url.ts";
import type { OAuthClientError } from "../core/errors.ts";
import type { IAuthorizationServerMetadata } from "../core/metadata.ts";
import { errorMembers, errorWords } from "../client/_error_members.ts";
import type { ClientAuthentication } from "../client/authentication.ts";
import {
  authenticationOf,
  noteUnencoded,
} from "../client/_authentication_selection.ts";
import { underClock } from "../http/_clock.ts";
import { type Context, secretsIn } from "../http/_context.ts";
import { literal, type Message, words } from "../http/_error.ts";
import { cleanErrorResponse } from "../http/_redact.ts";
import { type IRequest, mergeHeaders, send } from "../http/_request.ts";
import {
  FORM,
  type IResponse,
  isForm,
  responseError,
} from "../http/_response.ts";
import type { RequestPurpose } from "../http/request_options.ts";
import type { GrantContext } from "./_grant_context.ts";
import {
  errorCodeIn,
  isPage,
  refusedFormHint,
  refusesClient,
  requestOf,
} from "./_refused_form.ts";
import { clockHintFor } from "./_refused_jwt.ts";

type FormEndpointName = Extract<
  EndpointName,
  | "token_endpoint"
  | "device_authorization_endpoint"
  | "backchannel_authentication_endpoint"
  | "revocation_endpoint"
  | "pushed_authorization_request_endpoint"
>;

type FormServerMetadata =
  & EndpointMetadata<FormEndpointName>
  & Pick<IAuthorizationServerMetadata, "token_endpoint_auth_methods_supported">;

/** A form that was sent, the response, and the members of its body. */
export interface FormResponse {
  readonly request: IRequest;
  readonly response: IResponse;
  /** The members of the body; those that are `null` count as absent. */
  readonly members: Members;
  /** The error code, also one that the response expresses without the body. */
  readonly error: string | undefined;
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

/** Checks whether a server has rejected the credentials of a client. */
function isRefused({ response, error }: FormResponse): boolean {
  return refusesClient(response, error);
}

/**
 * Checks whether a server has accepted the credentials of a client; the request may
 * have failed for another reason, such as a device code that is pending.
 */
function isAccepted(last: FormResponse): boolean {
  const { response: { status, ok }, members } = last;
  return !isRefused(last) && (ok || (status < 500 && "error" in members));
}

/** Fails unless the last response is successful; an `error` counts at any status. */
function requireSuccess(
  context: Context,
  last: FormResponse,
  requests: readonly IRequest[],
): void {
  const { request, response, members, error } = last;
  const { url, status, ok, json, text, failure } = response;
  const { purpose } = request;
  const isError = Boolean(stringMember(members, "error"));
  if (!isError) {
    if (ok && purpose === "revocation") return;
    if (failure) throw failure;
    if (ok && !isPage(text)) return;
  }
  const secrets = secretsIn(context);
  const details = isError ? errorMembers(members, secrets) : { error };
  const problem = isError
    ? words`${status}${errorWords(details, " ")}`
    : words`${literal(ok ? "" : "expected status 2xx, got ")}${status}${
      literal(error ? " with a Basic challenge, which rejects the client" : "")
    }`;
  const message = words`The ${literal(purpose.replaceAll("_", " "))} request \
to ${{ url }} failed: ${problem}${
    refusedFormHint(response, details.error, requests)
  }${clockHintFor(context, response, details.error, request)}`;
  // Of an array too: unlike a page of a proxy, JSON comes from the server.
  const body = isError
    ? members
    : text?.trim() === ""
    ? {}
    : typeof json === "object" && { ...json };
  const code = ok ? "invalid_response" : "unexpected_status";
  throw responseError(
    context,
    response,
    isError || error ? "oauth_error" : code,
    message,
    {
      ...details,
      request: requestOf(request),
      errorResponse: cleanErrorResponse(body, text, secrets),
    },
  );
}

/** The error of a successful response that lacks what it is needed for. */
export function unusableResponse(
  context: Context,
  response: IResponse,
  name: string,
  problem: Message,
): OAuthClientError {
  const { url } = response;
  const message = words`${literal(name)} response of ${{ url }} ${problem}`;
  return responseError(context, response, "invalid_response", message);
}

/** A form, and the endpoint that it is posted to. */
interface Form {
  readonly url: string;
  readonly purpose: RequestPurpose;
  readonly serverMetadata: FormServerMetadata;
  readonly form: URLSearchParams;
}

/** Sends a form once, with fresh credentials and a fresh DPoP proof. */
function sendForm(
  context: GrantContext,
  { url, purpose, serverMetadata, form }: Form,
  sender: ClientAuthentication | undefined,
): Promise<FormResponse> {
  return underClock(url, context, async (signal) => {
    const { dpop } = context;
    const body = new URLSearchParams(form);
    const fields: Record<string, string> = { "Content-Type": FORM };
    const draft = { serverMetadata, body, headers: fields, signal };
    await sender?.authenticate(draft);
    // Also a parameter of the authorization request (RFC 9126, section 2.1).
    if (sender && purpose === "pushed_authorization") {
      body.set("client_id", sender.clientId);
    }
    signal.throwIfAborted();
    if (dpop) fields.DPoP = await dpop.createProof({ method: "POST", url });
    signal.throwIfAborted();
    const accept = { Accept: "application/json", ...fields };
    const headers = mergeHeaders(accept, context.headers, fields);
    const request = { url, purpose, headers, body: body.toString() };
    const response = await send(request, context, signal);
    // RFC 7009, section 2.2.
    const isIgnored = purpose === "revocation" && response.ok;
    const members = isIgnored ? {} : membersOf(response);
    const error = errorCodeIn(response, members);
    return { request, response, members, error };
  });
}

/** Returns why the server may accept a form that is sent again, if it may. */
function reasonToRepeat(
  { dpop }: GrantContext,
  sender: ClientAuthentication | undefined,
  last: FormResponse,
): "nonce" | "unencoded" | undefined {
  const { request: { url }, response: { status, headers }, error } = last;
  // The nonce of each response is noted.
  if (dpop?.noteResponse(url, { status, headers, error })) return "nonce";
  return sender?.unencoded && isRefused(last) ? "unencoded" : undefined;
}

/**
 * Posts a form to an endpoint and returns the members of a successful response. The
 * request is repeated once for each of two reasons: with DPoP, the server requires a
 * nonce (RFC 9449, section 8); or it rejects form-encoded Basic credentials. RFC 6749,
 * section 2.3.1, requires them, but many servers compare them without decoding; no
 * server is known that has redeemed the code by then.
 */
export async function postForm(
  context: GrantContext,
  serverMetadata: FormServerMetadata,
  endpoint: FormEndpointName,
  form: URLSearchParams,
): Promise<FormResponse> {
  const { client } = context;
  // With a plain object, even "undefined" would be sent.
  requireArgument(form instanceof URLSearchParams, "body", "URLSearchParams");
  const url = requireEndpoint(serverMetadata, endpoint, context.allowHttp);
  // Each endpoint has the name of the purpose of its requests.
  const purpose = endpoint
    .replace(/(_request)?_endpoint$/, "") as RequestPurpose;
  const target = { url, purpose, serverMetadata, form };
  const first = client && authenticationOf(client, serverMetadata);
  let sender = first;
  const reasons = new Set<string>();
  const requests: IRequest[] = [];
  for (;;) {
    const last = await sendForm(context, target, sender);
    requests.push(last.request);
    const reason = reasonToRepeat(context, sender, last);
    if (reason && !reasons.has(reason)) {
      reasons.add(reason);
      if (reason === "unencoded") sender = sender?.unencoded;
      continue;
    }
    const isUnencoded = sender !== first;
    if (client && (isUnencoded || isRefused(last))) {
      noteUnencoded(client, isUnencoded && isAccepted(last));
    }
    requireSuccess(context, last, requests);
    return last;
  }
}
