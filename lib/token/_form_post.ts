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

export interface FormResponse {
  readonly request: IRequest;
  readonly response: IResponse;
  /** Members that are `null` count as absent. */
  readonly members: Members;
  /** The error code, even if the response expresses it without a body. */
  readonly error: string | undefined;
}

/** A body is a form or JSON. */
function membersOf(response: IResponse): Members {
  const { text = "" } = response;
  // A form is ASCII; a replacement character would become part of the token.
  const value = isForm(response) && !text.includes("\ufffd")
    ? Object.fromEntries(new URLSearchParams(text))
    : withoutNulls(response.json);
  return isMembers(value) ? value : {};
}

function isRefused({ response, error }: FormResponse): boolean {
  return refusesClient(response, error);
}

/**
 * Checks whether the server accepted the client's credentials. The request may still
 * have failed, for example because a device code is pending.
 */
function isAccepted(last: FormResponse): boolean {
  const { response: { status, ok }, members } = last;
  return !isRefused(last) && (ok || (status < 500 && "error" in members));
}

/** Fails unless the last response is successful. An `error` counts at any status. */
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
  // Even an array: JSON comes from the server, a page from a proxy.
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

/** The error of a successful response without a required member. */
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

interface Form {
  readonly url: string;
  readonly purpose: RequestPurpose;
  readonly serverMetadata: FormServerMetadata;
  readonly form: URLSearchParams;
}

/** Sends a form once, with new credentials and a new DPoP proof. */
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

/** Returns why the server may accept a form that is sent again. */
function reasonToRepeat(
  { dpop }: GrantContext,
  sender: ClientAuthentication | undefined,
  last: FormResponse,
): "nonce" | "unencoded" | undefined {
  const { request: { url }, response: { status, headers }, error } = last;
  // Notes the nonce of each response.
  if (dpop?.noteResponse(url, { status, headers, error })) return "nonce";
  return sender?.unencoded && isRefused(last) ? "unencoded" : undefined;
}

/**
 * Posts a form and returns the members of a successful response. Repeats the request
 * once for each of two reasons: the server requires a DPoP nonce (RFC 9449, section 8),
 * or rejects form-encoded Basic credentials. RFC 6749, section 2.3.1, requires the
 * encoding, but many servers compare them undecoded. No known server has redeemed the
 * code by then.
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
  // Each endpoint is named like its requests' purpose.
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
