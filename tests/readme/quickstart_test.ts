/** The answers of quickstart.md to what does not work. */
import { assertEquals, assertRejects } from "@std/assert";
import { codeFlow, OAuthClientError } from "../../mod.ts";
import { type Sentence, testSentences, type World } from "./world.ts";

const QUICKSTART = ".github/docs/quickstart.md";

/** Makes the API answer 404 without a token, and publish no metadata if that is wished. */
function hide({ servers }: World, publishes: boolean) {
  servers.intercept = ({ endpoint, headers }) => {
    const isStranger = endpoint === "resource" && !headers.has("Authorization");
    const isHidden = endpoint === "resource_metadata" && !publishes;
    return isStranger || isHidden
      ? new Response(null, { status: 404 })
      : undefined;
  };
}

const SENTENCES: Sentence[] = [
  [
    QUICKSTART,
    '**"does not support registration"**: create a client in the provider\'s console, with the redirect URI `http://127.0.0.1:33418/callback`. Pass it to `codeFlow`: `client: { issuer, client_id }`, instead of `clientMetadata`.',
    async ({ servers, open, call }) => {
      servers.serverMetadata = { registration_endpoint: undefined };
      const error = await assertRejects(
        () => open()(servers.resource),
        OAuthClientError,
        "does not support registration (set client to an existing client)",
      );
      assertEquals(error.code, "unsupported");
      servers.serverMetadata = {};
      const session = await open().signIn();
      servers.serverMetadata = { registration_endpoint: undefined };
      const { issuer, receiver: { redirectUri, visit } } = servers;
      const { client_id } = session.client!;
      const flow = codeFlow({
        ...{ redirectUri, visit, client: { issuer, client_id } },
      });
      assertEquals(await call(open({ flow })), 200);
    },
  ],
  [
    QUICKSTART,
    "**The API answers 404, 403 or 200 instead of `401`**: set `tokenRequired: true`. If the API publishes no metadata either, also set `authorizationServer`, or a `client` with its `issuer`.",
    async (world) => {
      const { servers: { issuer }, open, call } = world;
      const tokenRequired = true;
      hide(world, true);
      assertEquals(await call(open()), 404);
      assertEquals(await call(open({ tokenRequired })), 200);
      hide(world, false);
      assertEquals(await call(open({ tokenRequired })), "discovery_failed");
      const options = { tokenRequired, authorizationServer: issuer };
      const api = open(options);
      assertEquals(await call(api), 200);
      const { client } = (await api.session())!;
      const { client_id } = client!;
      const named = open({ tokenRequired, client: { issuer, client_id } });
      assertEquals(await call(named), 200);
    },
  ],
  [
    QUICKSTART,
    "**You need the token itself**: `(await api.signIn()).token.access_token` is a valid one.",
    async ({ servers, open }) => {
      const api = open();
      for (const _ of [1, 2]) {
        const { access_token } = (await api.signIn()).token;
        const headers = { Authorization: `Bearer ${access_token}` };
        const { status } = await servers.fetch(servers.resource, { headers });
        assertEquals(status, 200);
        servers.advance(3600);
      }
    },
  ],
  [
    QUICKSTART,
    "**Your user signs out**: `await api.revoke()`.",
    async ({ servers, open, call }) => {
      const api = open();
      assertEquals(await call(api), 200);
      assertEquals(await api.revoke(), true);
      assertEquals(await api.session(), undefined);
      assertEquals(servers.accessTokens(), []);
    },
  ],
];

testSentences(SENTENCES);
