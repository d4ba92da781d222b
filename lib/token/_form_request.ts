/** Posting a form to an endpoint of an authorization server. */

import { requireArgument, requireObject } from "../core/_arguments.ts";
import { type EndpointName, requireEndpoint } from "../core/_endpoint.ts";
import { exchange, mergeHeaders, requireOptions } from "../http/_request.ts";
import {
  type IReply,
  quoteServerText,
  withoutNulls,
} from "../http/_response.ts";
import type {
  ClientAuthentication,
  IFormRequestOptions,
} from "../client/authentication.ts";
import { OAuthClientError } from "../core/errors.ts";
import type { IAuthorizationServerMetadata } from "../core/types.ts";

/** The members of a reply's body; a member that is `null` counts as absent. */
export type ReplyMembers = Record<string, unknown>;

const FORM = "application/x-www-form-urlencoded";

function isAbsent(option: unknown): boolean {
  return option === undefined || option === null;
}

/** Reads JSON or, where the media type says so, a form. */
async function membersOf(reply: IReply): Promise<ReplyMembers> {
  const isForm = reply.header("content-type")?.toLowerCase().startsWith(FORM);
  const body = isForm
    ? Object.fromEntries(new URLSearchParams(await reply.content()))
    // Of a body that is no JSON, one that cannot be read at all is told apart.
    : await reply.json() ?? await reply.content();
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return {};
  }
  return withoutNulls(body) as ReplyMembers;
}

/** A member that is a string; anything else counts as absent. */
export function textMember(
  members: ReplyMembers,
  name: string,
): string | undefined {
  const value = members[name];
  return typeof value === "string" ? value : undefined;
}

/** A member that is a number of seconds, or such a number in digits. */
export function secondsMember(
  members: ReplyMembers,
  name: string,
): number | undefined {
  const value = members[name];
  const seconds = typeof value === "string" && /^\d+$/.test(value)
    ? Number(value)
    : value;
  return typeof seconds === "number" && Number.isFinite(seconds) && seconds >= 0
    ? seconds
    : undefined;
}

/** Fails unless the reply is a success; its `error` counts at any status. */
function requireSuccess(
  url: string,
  reply: IReply,
  members: ReplyMembers,
): void {
  if (members.error !== undefined && members.error !== "") {
    const error = textMember(members, "error") ??
      reply.quoteJson(members.error);
    const error_description = textMember(members, "error_description");
    const said = error_description ? `${error}: ${error_description}` : error;
    throw reply.error(
      "server_error",
      `Request to ${quoteServerText(url)} was refused: ${reply.quote(said)}`,
      {
        error,
        error_description,
        error_uri: textMember(members, "error_uri"),
        errorResponse: members,
      },
    );
  }
  if (!reply.ok) {
    throw reply.error(
      "unexpected_status",
      `Request to ${quoteServerText(url)} failed: expected status 200, got ` +
        reply.status,
    );
  }
}

/** Puts the client's credentials in, unless they belong to another issuer. */
async function authenticate(
  client: ClientAuthentication | undefined,
  serverMetadata: IAuthorizationServerMetadata,
  body: URLSearchParams,
  headers: Record<string, string>,
): Promise<void> {
  const { issuer } = serverMetadata;
  if (client?.issuer !== undefined && client.issuer !== issuer) {
    throw new OAuthClientError(
      "issuer_mismatch",
      `The client of ${client.issuer} is not shown to ${issuer}`,
    );
  }
  await client?.authenticate({ serverMetadata, body, headers });
}

/**
 * Posts a form and reads the members of a successful reply. With DPoP the
 * request is made once more when the server asks for a nonce.
 */
export async function postForm<T>(
  serverMetadata: IAuthorizationServerMetadata,
  endpoint: EndpointName,
  form: URLSearchParams,
  options: IFormRequestOptions | undefined,
  read: (members: ReplyMembers, reply: IReply, url: string) => T,
): Promise<T> {
  const { client, dpop, allowHttp, headers: further, ...requestOptions } =
    requireOptions(options);
  requireObject("serverMetadata", serverMetadata);
  requireArgument(form instanceof URLSearchParams, "body", "URLSearchParams");
  requireArgument(
    isAbsent(client) || typeof client?.authenticate === "function",
    "client",
    "a ClientAuthentication",
  );
  requireArgument(
    isAbsent(dpop) || typeof dpop?.createProof === "function",
    "dpop",
    "what createDpop() made",
  );
  const url = requireEndpoint(serverMetadata, endpoint, allowHttp);
  const purpose = endpoint === "token_endpoint"
    ? "token"
    : "device_authorization";

  const send = async (isRetry: boolean): Promise<T> => {
    const body = new URLSearchParams(form);
    const own: Record<string, string> = { "Content-Type": FORM };
    await authenticate(client, serverMetadata, body, own);
    if (dpop) own.DPoP = await dpop.createProof({ method: "POST", url });
    const headers = mergeHeaders({ Accept: "application/json" }, further, own);
    const result = await exchange(
      { url, purpose, headers, body: body.toString() },
      requestOptions,
      async (reply) => {
        const members = await membersOf(reply);
        dpop?.noteReply(url, {
          status: reply.status,
          headers: { get: (name) => reply.header(name) ?? null },
        });
        const wantsNonce = members.error === "use_dpop_nonce" &&
          reply.header("DPoP-Nonce") !== undefined;
        if (dpop && wantsNonce && !isRetry) return undefined;
        requireSuccess(url, reply, members);
        return { value: read(members, reply, url) };
      },
    );
    return result ? result.value : await send(true);
  };
  return await send(false);
}
