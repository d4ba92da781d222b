/** What a refresh has obtained and nobody uses: it is revoked. */
import { assertEquals, assertRejects } from "@std/assert";
import {
  type AuthorizedFetch,
  memoryStore,
  OAuthClientError,
  refreshSession,
  type Session,
} from "../../../mod.ts";
import { AS, MCP, SERVER } from "../../support/fixtures.ts";
import { resourceFetch, SESSION } from "../../support/resource.ts";
import { deferred, statusOf } from "../../support/stub_fetch.ts";
import { skipWaits } from "../../support/timers.ts";
import { LIMIT_MS, turn, within } from "../../support/within.ts";

const TOKEN = SERVER.token_endpoint;
const REVOKE = `${AS}/revoke`;

const EXPIRED: Session = {
  ...SESSION,
  server: { ...SESSION.server, revocation_endpoint: REVOKE },
  token: { ...SESSION.token, expires_at: 1, expires_in: 60 },
};

const saving = (refresh_token: string): Session => ({
  ...EXPIRED,
  token: { access_token: "saved", token_type: "Bearer", refresh_token },
});

/** Lists what is revoked if a refresh ends after another session was saved. */
async function revokedAfter(
  save: (
    api: AuthorizedFetch,
    store: { save(one: Session): unknown },
  ) => unknown,
  isFirst = false,
) {
  const asked = deferred<void>();
  const response = deferred<Response>();
  const store = memoryStore(EXPIRED);
  const { api, received } = resourceFetch(({ url }) => {
    if (url !== TOKEN) return undefined;
    asked.resolve();
    return response.promise;
  }, { store });
  const calling = statusOf(api(MCP));
  await within(LIMIT_MS, asked.promise);
  const saved = save(api, store);
  if (isFirst) await saved;
  else await turn();
  const members = { access_token: "t2", refresh_token: "r2" };
  response.resolve(Response.json({ ...members, token_type: "Bearer" }));
  await saved;
  assertEquals(await within(LIMIT_MS, calling), 200);
  assertEquals((await api.session())?.token.access_token, "saved");
  // It has been revoked by then.
  await api.save(saving("last"));
  return received.filter(({ url }) => url === REVOKE)
    .map(({ body }) => new URLSearchParams(body).get("token"));
}

Deno.test("createAuthorizedFetch().save() during a refresh revokes what the refresh obtains", async () => {
  const revoked = await revokedAfter((api) => api.save(saving("other")));
  assertEquals(revoked, ["r2", "t2"]);
  const { refresh_token: _, ...token } = saving("").token;
  const later = await revokedAfter((api) => api.save({ ...EXPIRED, token }));
  assertEquals(later, ["r2", "t2"]);
});

Deno.test("createAuthorizedFetch().save() that does not wait for a refresh lets it revoke what it obtains", async () => {
  using _waits = skipWaits((ms) => ms === 1_000);
  const revoked = await revokedAfter(async (api) => {
    await api.save(saving("other"));
  }, true);
  assertEquals(revoked, ["r2", "t2"]);
});

Deno.test("createAuthorizedFetch() revokes nothing of a refresh where the saved session may be of the same sign-in", async () => {
  const { refresh_token = "" } = SESSION.token;
  for (const own of [refresh_token, "r2"]) {
    const revoked = await revokedAfter((api) => api.save(saving(own)));
    assertEquals(revoked, []);
  }
  // Another process may have refreshed the same session.
  const saved = await revokedAfter((_, store) => store.save(saving("other")));
  assertEquals(saved, []);
});

Deno.test("refreshSession() revokes the tokens that come with an ID token of another user", async () => {
  const revoked: unknown[] = [];
  const jwt = (sub: string) =>
    `e30.${
      btoa(JSON.stringify({
        ...{ iss: AS, aud: "c1", sub },
        ...{ exp: 9_999_999_999, iat: 1_700_000_000 },
      }))
    }.AAAA`;
  const token = { ...EXPIRED.token, id_token: jwt("alice") };
  const refresh = () =>
    refreshSession({ ...EXPIRED, token }, {
      fetch: (url, init) => {
        if (String(url) === REVOKE) {
          revoked.push(new URLSearchParams(String(init?.body)).get("token"));
          return Promise.resolve(new Response());
        }
        return Promise.resolve(Response.json({
          ...{ access_token: "t2", token_type: "Bearer" },
          ...{ refresh_token: "r2", id_token: jwt("mallory") },
        }));
      },
    });
  const error = await assertRejects(refresh, OAuthClientError);
  assertEquals(error.code, "invalid_id_token");
  assertEquals(revoked, ["r2", "t2"]);
});
