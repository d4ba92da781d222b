import { requireObject } from "../core/_arguments.ts";
import { type Members, stringMember } from "../core/_members.ts";
import {
  parseHttpUrl,
  parseUrl,
  quoteUrl,
  requireEndpoint,
} from "../core/_url.ts";
import { type Context, contextOf, fork } from "../http/_context.ts";
import { errorOf, literal, unusedUrl, words } from "../http/_error.ts";
import { request } from "../http/_request.ts";
import type { RequestOptions } from "../http/request_options.ts";
import { responseError } from "../http/_response.ts";
import type { KnownClient } from "./known_client.ts";

/** Options of {@linkcode deleteRegistration}. */
export interface DeleteRegistrationOptions
  extends Omit<RequestOptions, "headers"> {
  /** Accepts any http endpoint, and any endpoint on loopback. */
  allowHttp?: boolean | undefined;
  /** The registration endpoint, if its origin is not the issuer's. */
  registrationEndpoint?: string | URL | undefined;
}

/** The members of a registration that allow its deletion. */
export type ClientConfiguration = Pick<
  KnownClient,
  "registration_access_token" | "registration_client_uri"
>;

export function configurationOf(client: object): ClientConfiguration {
  const { registration_access_token, registration_client_uri } =
    client as ClientConfiguration;
  return { registration_access_token, registration_client_uri };
}

function isOf(url: URL | undefined, servers: readonly string[]): boolean {
  return url !== undefined &&
    servers.some((server) => parseUrl(server)?.origin === url.origin);
}

/**
 * Returns these members if a header field can contain the token, and the URL's origin
 * is the issuer's or the registration endpoint's. Otherwise returns neither: no other
 * URL may receive the token.
 */
export function receivedConfiguration(
  members: Members,
  ...servers: readonly string[]
): ClientConfiguration {
  const token = stringMember(members, "registration_access_token") ?? "";
  const uri = parseHttpUrl(members.registration_client_uri);
  const isOwn = /^[\x21-\x7e]+$/.test(token) &&
    // Errors and events show the URL.
    !uri?.href.includes(token) &&
    isOf(uri, servers);
  return configurationOf(isOwn ? members : {});
}

/**
 * Deletes a client's registration at its server, which should also invalidate the
 * client's tokens. A 401 counts as deleted. After a 404 or 405, a `GET` of the
 * registration decides: some servers send registrations that they cannot delete.
 *
 * This needs two members that some servers send with a registration.
 * {@linkcode registerClient} and {@linkcode ensureClient} return them only for the
 * origin of the issuer or of the registration endpoint. If a flow registered the
 * client, its session's `client` contains them: load that session before you revoke it.
 * Other sessions with this client stop working. Keep the members as secret as a refresh
 * token.
 *
 * @param client A client with `registration_access_token` and
 * `registration_client_uri`.
 * @param options The options of every request.
 * @throws {OAuthClientError} `unsupported`: a member is missing. `unexpected_status`:
 * the server did not delete the registration; with 404 or 405, it may not support
 * deletion. `url_refused`: the `registration_client_uri` is not allowed, or its origin
 * is neither the issuer's nor the `registrationEndpoint`'s. `network_error`, `timeout`,
 * `redirect_refused`.
 * @see RFC 7592, section 2.3.
 *
 * @example Delete a registration that is no longer needed
 * ```ts
 * import { deleteRegistration } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const requests: string[] = [];
 * await deleteRegistration(
 *   {
 *     issuer: "https://as.example",
 *     client_id: "c1",
 *     registration_access_token: "t0ken",
 *     registration_client_uri: "https://as.example/register/c1",
 *   },
 *   {
 *     // Replaces the server.
 *     fetch: (url, { method }) => {
 *       requests.push(`${method} ${url}`);
 *       return Promise.resolve(new Response(null, { status: 204 }));
 *     },
 *   },
 * );
 * assertEquals(requests, ["DELETE https://as.example/register/c1"]);
 * ```
 *
 * @category Clients
 */
export async function deleteRegistration(
  client: KnownClient,
  options?: DeleteRegistrationOptions,
): Promise<void> {
  const context = contextOf(options);
  const { issuer, registration_client_uri, registration_access_token = "" } =
    requireObject("client", client);
  const { registrationEndpoint = issuer } = options ?? {};
  const uri = parseHttpUrl(registration_client_uri);
  // The caller may pass members from an unchecked response.
  if (uri && !isOf(uri, [issuer, String(registrationEndpoint)])) {
    throw errorOf(
      fork(context, [registration_access_token]),
      "url_refused",
      unusedUrl("The registration_client_uri", uri, [
        `a URL with the origin of ${quoteUrl(issuer)}`,
        {
          option: "registrationEndpoint",
          text: "if the registration endpoint has another origin, set " +
            "registrationEndpoint",
        },
      ]),
    );
  }
  await deleteWith(context, client);
}

export async function deleteWith(
  context: Context,
  client: KnownClient,
): Promise<void> {
  const { issuer, registration_access_token: token, registration_client_uri } =
    client;
  const url = requireEndpoint(
    { issuer, registration_client_uri: token && registration_client_uri },
    "registration_client_uri",
    context.allowHttp,
  );
  const operation = fork(context);
  const headers = { Authorization: `Bearer ${token}` };
  const registration = { url, purpose: "registration", headers } as const;
  const response = await request(
    { ...registration, method: "DELETE" },
    operation,
  );
  const { ok, status, failure } = response;
  if (ok || status === 401) return;
  // By default, oidc-provider lacks the route, and the client still works.
  const found = [404, 405].includes(status)
    ? await request(registration, operation)
    : undefined;
  if (found?.status === 401) return;
  const why = found?.ok
    ? ", and the registration is still there: the server does not delete clients"
    : "";
  throw failure ?? responseError(
    operation,
    response,
    "unexpected_status",
    words`Deletion of ${{ url }} failed: expected status 2xx, got ${status}${
      literal(why)
    }`,
  );
}
