/**
 * The on-behalf-of flow of Microsoft Entra ID by the options of `assertionFlow`, at a
 * server that does what Microsoft documents (versions of April 2019 and September 2022). The numbers
 * of refused assertions are from reports: 500131 of May 2019, 500133 of June 2024.
 *
 * @see https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-on-behalf-of-flow
 * @see https://github.com/AzureAD/microsoft-authentication-library-for-java/issues/38
 * @see https://github.com/microsoftgraph/msgraph-sdk-dotnet/issues/2551
 */
import { assertEquals } from "@std/assert";
import {
  adviceFor,
  assertionFlow,
  type AssertionFlowOptions,
  createAuthorizedFetch,
  perCaller,
} from "../../../mod.ts";
import { assertRejectsCode, unverifiedJwt } from "../../support/fixtures.ts";

const HOST = "https://login.microsoftonline.com/5d1f4a0e";
const issuer = `${HOST}/v2.0`;
const TOKEN = `${HOST}/oauth2/v2.0/token`;
const GRAPH = "https://graph.microsoft.com/v1.0/me";
const SCOPE = "https://graph.microsoft.com/User.Read";
const ID = "8b0fe3a1-6d9f";
const client = { issuer, client_id: ID, client_secret: "s3cret" };
const CLAIMS = '{"access_token":{"polids":{"essential":true}}}';
const START = Date.UTC(2026, 0);

function refusalOf(form: URLSearchParams, now: number): [string, number] | "" {
  const claims = JSON.parse(
    atob(form.get("assertion")?.split(".")[1] ?? btoa("{}")),
  );
  if (form.get("client_secret") !== "s3cret") {
    return ["invalid_client", 7000215];
  }
  if (form.has("resource")) return ["invalid_target", 9010010];
  // Both are required.
  if (!form.has("scope") || !form.has("requested_token_use")) {
    return ["invalid_request", 900144];
  }
  if (claims.aud !== ID) return ["invalid_grant", 500131];
  if (claims.exp * 1000 <= now) return ["invalid_grant", 500133];
  if (claims.sub === "needs-mfa") return ["interaction_required", 50079];
  return "";
}

/** The token endpoint of a tenant, and an API that publishes no metadata. */
function startEntra() {
  const forms: URLSearchParams[] = [];
  const users = new Map<string, string>();
  const clock = { now: START };
  const fetch = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    if (request.url === GRAPH) {
      const [, token = ""] = request.headers.get("Authorization")?.split(" ") ??
        [];
      const user = users.get(token);
      return user ? Response.json({ user }) : new Response(null, {
        status: 401,
        headers: { "WWW-Authenticate": "Bearer" },
      });
    }
    if (request.url === `${issuer}/.well-known/openid-configuration`) {
      return Response.json({
        issuer,
        token_endpoint: TOKEN,
        response_types_supported: ["code"],
        token_endpoint_auth_methods_supported: ["client_secret_post"],
      });
    }
    if (request.url !== TOKEN) return new Response(null, { status: 404 });
    const form = new URLSearchParams(await request.text());
    forms.push(form);
    const [error, number] = refusalOf(form, clock.now) || [];
    if (error) {
      return Response.json({
        error,
        error_description: `AADSTS${number}: See the reference of error codes.`,
        error_codes: [number],
        ...(number === 50079 && { claims: CLAIMS }),
      }, { status: 400 });
    }
    const access_token = `graph-${forms.length}`;
    const [, payload = ""] = form.get("assertion")!.split(".");
    users.set(access_token, JSON.parse(atob(payload)).sub);
    return Response.json({
      access_token,
      token_type: "Bearer",
      scope: SCOPE,
      expires_in: 3_269,
      ext_expires_in: 0,
    });
  };
  const openFor = (
    callerToken: string,
    flow: Partial<AssertionFlowOptions> = {},
  ) =>
    createAuthorizedFetch(GRAPH, {
      fetch,
      now: () => clock.now,
      authorizationServer: issuer,
      flow: assertionFlow({
        client,
        getAssertion: () => callerToken,
        parameters: { requested_token_use: "on_behalf_of" },
        resourceIndicator: false,
        scopes: [SCOPE],
        ...flow,
      }),
    });
  return { forms, clock, openFor };
}

const tokenOf = (sub: string, further: object = {}) =>
  unverifiedJwt({ sub, aud: ID, exp: START / 1000 + 5_000, ...further });

Deno.test("assertionFlow() does the on-behalf-of flow of Entra ID for each caller", async () => {
  const { forms, clock, openFor } = startEntra();
  const graphFor = perCaller((token) => openFor(token));
  const call = async (user: string) => {
    const graph = await graphFor(tokenOf(user));
    return await (await graph(GRAPH)).json();
  };
  assertEquals(await call("ann"), { user: "ann" });
  const users = ["ann", "bob", "ann", "bob"];
  assertEquals(
    await Promise.all(users.map(call)),
    users.map((user) => ({ user })),
  );
  assertEquals(forms.length, 2);
  assertEquals(Object.fromEntries(forms[0]!), {
    grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
    client_id: ID,
    client_secret: "s3cret",
    assertion: tokenOf("ann"),
    scope: SCOPE,
    requested_token_use: "on_behalf_of",
  });
  clock.now += 3_270_000;
  assertEquals(await call("ann"), { user: "ann" });
  assertEquals(forms.length, 3);

  clock.now += 3_270_000;
  const error = await assertRejectsCode(() => call("ann"), "oauth_error");
  assertEquals(adviceFor(error), { action: "reauthorize" });
  assertEquals(forms.length, 4);
});

Deno.test("assertionFlow() passes on what Entra ID requires of the caller", async () => {
  const { openFor } = startEntra();
  const error = await assertRejectsCode(
    () => openFor(tokenOf("needs-mfa"))(GRAPH),
    "oauth_error",
  );
  assertEquals(error.error, "interaction_required");
  assertEquals(adviceFor(error), { action: "reauthorize" });
  assertEquals(error.errorResponse?.claims, CLAIMS);
});

Deno.test("assertionFlow() needs each of its options for Entra ID", async () => {
  const { forms, openFor } = startEntra();
  const token = tokenOf("ann");
  for (
    const [number, flow, given = token] of [
      [9010010, { resourceIndicator: undefined }],
      [900144, { scopes: undefined }],
      [900144, { parameters: {} }],
      [500131, {}, tokenOf("ann", { aud: "https://graph.microsoft.com" })],
    ] as const
  ) {
    const error = await assertRejectsCode(
      () => openFor(given, flow)(GRAPH),
      "oauth_error",
    );
    assertEquals(
      error.error_description,
      `AADSTS${number}: See the reference of error codes.`,
    );
  }
  const elsewhere = { ...client, issuer: "https://login.example/v2.0" };
  await assertRejectsCode(
    () => openFor(token, { client: elsewhere })(GRAPH),
    "issuer_mismatch",
  );
  assertEquals(forms.length, 4);
});
