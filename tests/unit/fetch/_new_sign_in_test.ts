/** The scopes of a sign-in. */
import { assertEquals } from "@std/assert";
import {
  type AuthorizedFetchEvent,
  memoryStore,
  type Session,
} from "../../../mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { MCP, SERVER } from "../../support/fixtures.ts";
import { resourceFetch, SESSION } from "../../support/resource.ts";

Deno.test("a step-up requests the scopes of another challenge as well, unless they are too many together", async () => {
  await eachRowInTurn([[98, 100], [99, 2]], async ([count, expected]) => {
    const more = Array.from({ length: count! }, (_, n) => `s${n}`).join(" ");
    const requested: (string[] | undefined)[] = [];
    const { api } = resourceFetch(({ url, headers }) => {
      if (url !== MCP || headers.get("Authorization") === "Bearer a2") return;
      const challenge = `Bearer scope="${more}", resource_metadata="${MCP}", ` +
        'Bearer error="insufficient_scope", scope="write"';
      const fields = { "WWW-Authenticate": challenge };
      return new Response(null, { status: 403, headers: fields });
    }, {
      serverMetadata: SERVER,
      store: memoryStore(SESSION),
      flow: ({ scopes, requiredScopes }) => {
        requested.push(scopes, requiredScopes);
        const token = { access_token: "a2", token_type: "Bearer" };
        const session: Session = { ...SESSION, scopes, token };
        return Promise.resolve(session);
      },
    });
    assertEquals((await api(MCP)).status, 200);
    const lengths = requested.map((scopes) => scopes?.length);
    assertEquals(lengths, [expected, expected]);
  });
});

Deno.test("a step-up is reported with the authentication that the resource requires", async () => {
  const events: AuthorizedFetchEvent[] = [];
  const token = { access_token: "a2", token_type: "Bearer" };
  const { api } = resourceFetch(({ url, headers }) => {
    if (url !== MCP || headers.get("Authorization") === "Bearer a2") return;
    const challenge = 'Bearer error="insufficient_user_authentication", ' +
      'acr_values="mfa", max_age="60"';
    const fields = { "WWW-Authenticate": challenge };
    return new Response(null, { status: 401, headers: fields });
  }, {
    serverMetadata: SERVER,
    flow: () => Promise.resolve({ ...SESSION, token }),
    onEvent: (event) => events.push(event),
  });
  assertEquals((await api(MCP)).status, 200);
  assertEquals(events.filter(({ type }) => type === "step_up"), [
    { type: "step_up", acr_values: "mfa", max_age: 60 },
  ]);
});
