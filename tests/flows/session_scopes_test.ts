/** Which scopes are requested, and when a user steps up. */
import { assertEquals } from "@std/assert";
import { memoryStore } from "../../mod.ts";
import type { SessionServers } from "../servers/session_servers.ts";
import { eachRowInTurn } from "../support/each_row.ts";
import { MCP, OAUTH, PRM, TOKEN_ENDPOINT } from "../support/fixtures.ts";
import { resourceFetch, SESSION } from "../support/resource.ts";
import { statusOf } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import {
  CALLERS,
  fetchAt,
  refusal,
  signedIn,
  signingInWith,
  test,
  withoutRefresh,
} from "./_session_world.ts";

/** Challenges each call without a valid token to request a scope. */
function challengeScope(servers: SessionServers, scope: string): void {
  servers.handler = ({ authorization }) =>
    servers.tokens().includes(`${authorization?.slice(7)}`)
      ? undefined
      : refusal(401, `scope="${scope}"`);
}

test("steps up once for 20 calls, with the union of the scopes", async ({ api, calls, sent, scopes }) => {
  await calls(() => "/write");
  sent({ visits: 1 });
  assertEquals(scopes(), ["read write"]);
  assertEquals((await api.session())!.scopes, ["read", "write"]);
});

test.beforeSignIn("loses no scope when two calls step up at the same time", async ({ servers }) => {
  const { api } = await signedIn(servers, {
    flow: servers.flow({ scopes: ["read"] }),
  });
  const call = (n: number) =>
    statusOf(api(`${servers.resource}/${n % 2 ? "write" : "admin"}`));
  const calls = Array.from({ length: CALLERS }, (_, n) => call(n));
  assertEquals(new Set(await Promise.all(calls)), new Set([200]));
  assertEquals(servers.visits.length, 2);
  const { scopes } = (await api.session())!;
  assertEquals(scopes.toSorted(), ["admin", "read", "write"]);
});

test("serves calls that require five different scopes at the same time", async ({ calls, sent }) => {
  await calls((n) => `/s${n % 5}`);
  sent({ visits: 5 });
});

test("returns a 403 that names scopes already requested, with its body", async ({ servers, refused, sent }) => {
  servers.handler = () =>
    refusal(403, 'error="insufficient_scope", scope="read"', "no");
  await refused(403, "no");
  sent({});
  assertEquals(servers.calls.length, 1);
});

test("returns the fourth refusal as it is", async ({ servers, refused, sent, scopes }) => {
  servers.handler = () => {
    const { length } = servers.calls;
    const challenge = `error="insufficient_scope", scope="s${length}"`;
    return refusal(403, challenge, `no ${length}`);
  };
  await refused(403, "no 4");
  sent({ visits: 3 });
  assertEquals(servers.calls.length, 4);
  assertEquals(scopes(), ["read s1", "read s1 s2", "read s1 s2 s3"]);
});

test("steps up by RFC 9470, without a refresh, and once for the same requirement", async ({ servers, call, refused, sent, scopes }) => {
  const challenge =
    'error="insufficient_user_authentication", acr_values="mfa", max_age="60"';
  const again = () => refusal(401, challenge, "sign in again");
  servers.handler = () => servers.visits.length ? undefined : again();
  assertEquals(await call(), 200);
  sent({ visits: 1 });
  const { searchParams } = servers.visits[0]!;
  assertEquals(searchParams.get("acr_values"), "mfa");
  assertEquals(searchParams.get("max_age"), "60");
  assertEquals(scopes(), ["read"]);

  servers.handler = again;
  await refused(401, "sign in again");
  sent({ visits: 2 });
});

const STEP_UPS: [required: string[], visits: number][] = [
  // Nothing but the need of a sign-in, which the stored session has not met.
  [[""], 1],
  [["", ""], 1],
  [[', acr_values="mfa"', ', acr_values="phr"'], 2],
  [[', max_age="60"', ', max_age="0"'], 2],
  [[', acr_values="mfa"', ', acr_values="mfa", max_age="60"'], 2],
];

for (const [required, visits] of STEP_UPS) {
  test(`steps up by RFC 9470 again for each other requirement of one call: ${required.join(" then")}`, async ({ servers, call, sent }) => {
    servers.handler = () => {
      const parameters = required[servers.visits.length];
      return parameters === undefined ? undefined : refusal(
        401,
        `error="insufficient_user_authentication"${parameters}`,
      );
    };
    await call();
    sent({ visits });
  });
}

test("requests the scopes of a lost session and of the challenge, and no more", async ({ servers, call, sent, scopes }) => {
  // The user steps up.
  await call("/write");
  servers.revoke(true);
  challengeScope(servers, "read list");
  assertEquals(await call(), 200);
  sent({ refreshes: 1, visits: 2 });
  assertEquals(scopes(), ["read write", "read write list"]);
});

test.beforeSignIn("counts the scopes of a 401 as required, beside those of the flow", async ({ servers, scopes }) => {
  challengeScope(servers, "list");
  const api = fetchAt(servers, {
    flow: servers.flow({ scopes: ["read"] }),
  });
  assertEquals(await statusOf(within(LIMIT_MS, api(servers.resource))), 200);
  assertEquals(scopes(), ["read list"]);
});

const FILES = "https://files.example/v1";

Deno.test("createAuthorizedFetch() uses the scope of a challenge of alsoFor, and not its metadata", async () => {
  await eachRowInTurn(
    [
      // The request to the token endpoint checks the registration.
      [401, "invalid_token", [TOKEN_ENDPOINT, FILES]],
      [403, "insufficient_scope", [FILES]],
    ] as const,
    async ([status, error, sent]) => {
      const { requests, authorize } = signingInWith({
        ...SESSION,
        token: { access_token: "t2", token_type: "Bearer" },
      });
      const challenge = `error="${error}", scope="files", ` +
        'resource_metadata="https://evil.example/doc"';
      const store = memoryStore(withoutRefresh(SESSION));
      const { api, urls } = resourceFetch(
        (one) =>
          one.url === FILES && one.headers.get("Authorization") !== "Bearer t2"
            ? refusal(status, challenge)
            : undefined,
        { flow: authorize, alsoFor: [FILES], store },
      );
      assertEquals((await api(FILES)).status, 200);
      assertEquals(urls, [FILES, MCP, `${PRM}/mcp`, OAUTH, ...sent]);
      assertEquals(requests[0]!.requiredScopes, ["read", "files"]);
    },
  );
});
