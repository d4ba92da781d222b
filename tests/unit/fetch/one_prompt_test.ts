/** What a sign-in does not help with: the user is prompted once, until `authorize()`. */
import { assertEquals } from "@std/assert";
import {
  codeFlow,
  type IAuthorizedFetchOptions,
  isOAuthClientError,
  memoryStore,
} from "../../../mod.ts";
import { AS, MCP, SERVER } from "../../support/fixtures.ts";
import { resourceFetch, SESSION } from "../../support/resource.ts";

const AUTHORIZATION = `${AS}/authorize`;
const TOKEN = SERVER.token_endpoint;

/** The result of a call: a status, or the code of an error. */
const resultOf = (call: Promise<Response>) =>
  call.then(
    ({ status }) => status,
    (error) => isOAuthClientError(error) ? error.error ?? error.code : error,
  );

const refusing = (challenge: string) =>
  new Response(null, {
    status: 401,
    headers: { "WWW-Authenticate": `Bearer ${challenge}` },
  });

Deno.test("createAuthorizedFetch() prompts the user once for an authentication that the API never finds sufficient", async () => {
  let prompts = 0;
  let acr = "a";
  const { api } = resourceFetch(
    ({ url }) =>
      url === MCP
        ? refusing(
          `error="insufficient_user_authentication", acr_values="${acr}"`,
        )
        : undefined,
    {
      authorize: () => {
        const token = { ...SESSION.token, access_token: `t${++prompts}` };
        return Promise.resolve({ ...SESSION, token });
      },
    },
  );
  for (const _ of [1, 2, 3]) assertEquals(await resultOf(api(MCP)), 401);
  assertEquals(prompts, 1);
  // Another requirement is another prompt.
  acr = "b";
  for (const _ of [1, 2]) assertEquals(await resultOf(api(MCP)), 401);
  assertEquals(prompts, 2);
  await api.authorize();
  assertEquals(prompts, 3);
});

for (
  const [error, status] of [["invalid_scope", 400], [
    "invalid_client",
    401,
  ]] as const
) {
  /** A fetch whose token endpoint refuses each code. */
  const refusingCodes = (options: Partial<IAuthorizedFetchOptions> = {}) => {
    const count = { prompts: 0, isRefused: true };
    const { api } = resourceFetch(({ url, headers }) => {
      if (url === TOKEN && count.isRefused) {
        return Response.json({ error }, { status });
      }
      if (url === TOKEN) {
        return Response.json({ access_token: "t", token_type: "Bearer" });
      }
      return url === MCP && !headers.has("Authorization")
        ? refusing("")
        : undefined;
    }, {
      store: memoryStore(),
      serverMetadata: { ...SERVER, authorization_endpoint: AUTHORIZATION },
      authorize: codeFlow({
        redirectUri: "https://app.example/callback",
        knownClients: [{
          issuer: AS,
          client_id: "c",
          token_endpoint_auth_method: "none",
        }],
        async visit(url, { pending }) {
          await Promise.resolve();
          count.prompts++;
          const state = url.searchParams.get("state") ?? pending.state;
          const query = { code: "x", state, iss: AS };
          return `https://app.example/callback?${new URLSearchParams(query)}`;
        },
      }),
      ...options,
    });
    return { api, count };
  };

  Deno.test(`createAuthorizedFetch() prompts the user once if the server answers the code with ${error}`, async () => {
    const { api, count } = refusingCodes();
    assertEquals(await resultOf(api(MCP)), error);
    for (const _ of [1, 2]) {
      assertEquals(await resultOf(api(MCP)), "sign_in_required");
    }
    assertEquals(count.prompts, 1);
    count.isRefused = false;
    await api.authorize();
    assertEquals([count.prompts, await resultOf(api(MCP))], [2, 200]);
  });
}

Deno.test("createAuthorizedFetch().renew() ends after three renewals without a token that is accepted, until authorize()", async () => {
  let issued = 0;
  let isAccepted = false;
  const { api } = resourceFetch(({ url }) => {
    if (url === TOKEN) {
      return Response.json({
        ...{ access_token: `t${++issued}`, token_type: "Bearer" },
        refresh_token: `r${issued}`,
      });
    }
    return url === MCP && !isAccepted ? refusing("") : undefined;
  }, { store: memoryStore(SESSION), authorize: undefined });
  /** Renews for responses to requests of other code. */
  const renew = async () => {
    const response = refusing("");
    Object.defineProperty(response, "url", { value: MCP });
    return await api.renew(response).then(() => true, ({ code }) => code);
  };
  for (const _ of [1, 2, 3]) assertEquals(await renew(), true);
  assertEquals(await renew(), "sign_in_required");
  assertEquals(issued, 3);
  isAccepted = true;
  await api(MCP);
  assertEquals([await renew(), issued], [true, 4]);
});
