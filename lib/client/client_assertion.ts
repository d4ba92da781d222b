import { requireArgument, requireNonEmptyString } from "../core/_arguments.ts";
import {
  bindingOf,
  type ClientAuthentication,
  type ClientAuthenticationOptions,
  publicClient,
} from "./authentication.ts";

const CLIENT_ASSERTION_TYPE =
  "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/**
 * The server that a client assertion is for.
 *
 * @category Clients
 */
export interface AssertionAudience {
  /** Issuer identifier of the server: the recommended `aud` of the assertion. */
  issuer: string;
  /** URL of the token endpoint, which some servers expect as `aud`. */
  tokenEndpoint?: string | undefined;
  /** Aborts on timeout and when the caller's signal aborts. */
  signal?: AbortSignal | undefined;
}

/**
 * Returns a client that sends another party's assertion: a workload identity's token,
 * or a JWT from a key management service.
 *
 * @param clientId Identifier of the client, not empty.
 * @param getJwt Returns the assertion. Called for every request, because a server
 * accepts an assertion with a `jti` only once. Its errors are thrown unchanged.
 * @param options The issuer that the assertions are bound to.
 * @throws {OAuthClientError} `invalid_argument`: an argument is invalid or empty. A
 * request fails with the same code if `getJwt` does not return a non-empty string.
 * @see RFC 7521, section 4.2; RFC 7523, sections 2.2 and 3.
 *
 * @example Authenticate with the token of a workload
 * ```ts
 * import {
 *   buildClientCredentialsBody,
 *   clientAssertion,
 *   fetchToken,
 * } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * // Replaces the file that the platform renews every hour.
 * const readWorkloadToken = () => Promise.resolve("eyJhbGciOiJSUzI1NiJ9.e30.c2ln");
 *
 * const { access_token } = await fetchToken(
 *   { issuer: "https://as.example", token_endpoint: "https://as.example/token" },
 *   buildClientCredentialsBody(),
 *   {
 *     client: clientAssertion("c1", readWorkloadToken, {
 *       issuer: "https://as.example",
 *     }),
 *     // Replaces the server.
 *     fetch: (_url, { body }) =>
 *       Promise.resolve(
 *         new URLSearchParams(body).get("client_assertion")?.startsWith("eyJ")
 *           ? Response.json({ access_token: "t0ken", token_type: "Bearer" })
 *           : Response.json({ error: "invalid_client" }, { status: 401 }),
 *       ),
 *   },
 * );
 * assertEquals(access_token, "t0ken");
 * ```
 *
 * @category Clients
 */
export function clientAssertion(
  clientId: string,
  getJwt: (audience: AssertionAudience) => string | Promise<string>,
  options?: ClientAuthenticationOptions,
): ClientAuthentication {
  const client = publicClient(clientId, bindingOf(options));
  requireArgument(typeof getJwt === "function", "getJwt", "a function");
  return {
    ...client,
    method: "private_key_jwt",
    async authenticate(request) {
      const { serverMetadata, signal } = request;
      const { issuer, token_endpoint: tokenEndpoint } = serverMetadata;
      // First, because it compares the issuer.
      await client.authenticate(request);
      const assertion = await getJwt({ issuer, tokenEndpoint, signal });
      requireNonEmptyString("The result of getJwt", assertion);
      request.body.set("client_assertion_type", CLIENT_ASSERTION_TYPE);
      request.body.set("client_assertion", assertion);
    },
  };
}
