import { assertEquals, assertFalse, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  buildAuthorizationUrl,
  type IAuthorizationServerMetadata,
  type IBuildAuthorizationUrlOptions,
  OAuthClientError,
} from "../../../mod.ts";

const ISSUER = "https://as.example";

const server = (
  members: Partial<IAuthorizationServerMetadata> = {},
): IAuthorizationServerMetadata => ({
  issuer: ISSUER,
  authorization_endpoint: "https://as.example/authorize",
  response_types_supported: ["code"],
  code_challenge_methods_supported: ["plain", "S256"],
  ...members,
});
const options: IBuildAuthorizationUrlOptions = {
  clientId: "c1",
  redirectUri: "http://127.0.0.1:8123/callback?x=1",
  state: "st-1",
  codeChallenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
};
const BASE = {
  response_type: "code",
  client_id: "c1",
  redirect_uri: "http://127.0.0.1:8123/callback?x=1",
  state: "st-1",
  code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  code_challenge_method: "S256",
};

/** The parameters as an object; fails when one comes twice. */
function parametersOf(url: URL): Record<string, string> {
  const keys = [...url.searchParams.keys()];
  assertEquals(new Set(keys).size, keys.length, url.search);
  return Object.fromEntries(url.searchParams);
}

Deno.test("buildAuthorizationUrl() writes the encoded address", () => {
  const url = buildAuthorizationUrl(server(), {
    ...options,
    scopes: ["read", "a&b"],
    resource: "https://api.example/mcp",
  });
  assertEquals(
    url.href,
    "https://as.example/authorize?response_type=code&client_id=c1" +
      "&redirect_uri=http%3A%2F%2F127.0.0.1%3A8123%2Fcallback%3Fx%3D1" +
      "&state=st-1" +
      "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" +
      "&code_challenge_method=S256&scope=read+a%26b" +
      "&resource=https%3A%2F%2Fapi.example%2Fmcp",
  );
});

Deno.test("buildAuthorizationUrl() leaves out what is not asked for", () => {
  const rows: Partial<IBuildAuthorizationUrlOptions>[] = [
    {},
    { scopes: undefined, resource: undefined, parameters: undefined },
    { scopes: [], resource: false },
    { resource: "" },
    { parameters: {} },
    { parameters: { prompt: "" } },
  ];
  for (const more of rows) {
    assertEquals(
      parametersOf(buildAuthorizationUrl(server(), { ...options, ...more })),
      BASE,
    );
  }
});

Deno.test("buildAuthorizationUrl() replaces its own parameters in the endpoint", () => {
  const names = [...Object.keys(BASE), "scope", "resource"];
  const query = names.map((name) => `${name}=evil&${name}=twice`).join("&");
  const authorization_endpoint =
    `https://as.example/authorize?tenant=t%201&${query}&p=x`;
  for (const resource of ["https://api.example", false, undefined] as const) {
    const url = buildAuthorizationUrl(
      server({ authorization_endpoint }),
      { ...options, resource, scopes: resource ? ["read"] : undefined },
    );
    assertEquals(parametersOf(url), {
      tenant: "t 1",
      p: "x",
      ...BASE,
      ...(resource && { resource, scope: "read" }),
    });
  }
});

Deno.test("buildAuthorizationUrl() leaves out the fragment of the endpoint", () => {
  const endpoint = "https://as.example/authorize?tenant=t";
  const plain = buildAuthorizationUrl(
    server({ authorization_endpoint: endpoint }),
    options,
  );
  for (const fragment of ["#", "#top", "#/login?state=evil&x=1"]) {
    const authorization_endpoint = endpoint + fragment;
    const url = buildAuthorizationUrl(
      server({ authorization_endpoint }),
      options,
    );
    assertEquals(url.href, plain.href);
  }
});

Deno.test("buildAuthorizationUrl() adds further parameters that replace none", () => {
  const names = [...Object.keys(BASE), "scope", "resource"];
  const evil = Object.fromEntries(names.map((name) => [name, "evil"]));
  for (
    const authorization_endpoint of [
      "https://a.example",
      "http://[::1]/?prompt=x",
    ]
  ) {
    const url = buildAuthorizationUrl(server({ authorization_endpoint }), {
      ...options,
      parameters: { ...evil, prompt: "consent", login_hint: "u@x" },
    });
    assertEquals(parametersOf(url), {
      ...BASE,
      prompt: "consent",
      login_hint: "u@x",
    });
  }
});

Deno.test("buildAuthorizationUrl() lets an empty further parameter remove nothing", () => {
  const url = buildAuthorizationUrl(
    server({ authorization_endpoint: "https://as.example/a?tenant=t&x=" }),
    { ...options, parameters: { tenant: "", prompt: "" } },
  );
  assertEquals(parametersOf(url), { tenant: "t", x: "", ...BASE });
});

Deno.test("buildAuthorizationUrl() carries any value unharmed", () => {
  const text = fc.string({ unit: "grapheme", minLength: 1 });
  fc.assert(fc.property(text, text, text, (state, clientId, resource) => {
    const given = { ...options, state, clientId, resource };
    const url = buildAuthorizationUrl(server(), given);
    const own = { state, client_id: clientId, resource };
    assertEquals(parametersOf(new URL(url.href)), { ...BASE, ...own });
  }));
});

Deno.test("buildAuthorizationUrl() refuses a server without PKCE by S256", () => {
  const rows: [unknown, boolean | undefined, boolean][] = [
    [["S256"], undefined, true],
    [["S256"], false, true],
    [undefined, true, true],
    [undefined, undefined, false],
    [undefined, false, false],
    [[], undefined, false],
    [["plain"], undefined, false],
    [["s256"], undefined, false],
    // assumePkce fills a gap and contradicts nothing that the server says.
    [[], true, false],
    [["plain"], true, false],
    // A list of the wrong kind is none, and so is a member of it.
    ["S256", undefined, false],
    ["S256", true, true],
    [{}, undefined, false],
    [{}, true, true],
    [[7, null, "S256"], undefined, true],
    [[["S256"]], true, false],
  ];
  for (const [methods, assumePkce, isFine] of rows) {
    const { code_challenge_methods_supported: _, ...rest } = server();
    const metadata = methods
      ? { ...rest, code_challenge_methods_supported: methods as string[] }
      : rest;
    const build = () =>
      buildAuthorizationUrl(metadata, { ...options, assumePkce });
    if (isFine) assertEquals(parametersOf(build()), BASE);
    else {
      const error = assertThrows(build, OAuthClientError, "S256");
      assertEquals(error.code, "unsupported");
      const isList = Array.isArray(methods);
      assertEquals(error.message.includes("assumePkce"), !isList);
    }
  }
});

Deno.test("buildAuthorizationUrl() refuses endpoints that no user should be sent to", () => {
  const build = (authorization_endpoint: unknown, allowHttp = false) =>
    buildAuthorizationUrl(
      server({ authorization_endpoint: authorization_endpoint as string }),
      { ...options, allowHttp },
    );
  for (
    const [refused, code] of [
      ["javascript:alert(1)", "url_refused"],
      ["JAVASCRIPT://as.example/%0aalert(1)", "url_refused"],
      ["java\tscript:alert(1)", "url_refused"],
      ["data:text/html,x", "url_refused"],
      ["file:///etc/passwd", "url_refused"],
      ["/authorize", "url_refused"],
      ["http://as.example/authorize", "url_refused"],
      ["http://127.0.0.1.evil.example/", "url_refused"],
      ["https://user:pass@as.example/", "url_refused"],
      ["https://as.example/\nx", "url_refused"],
      [1, "url_refused"],
      ["", "unsupported"],
      [undefined, "unsupported"],
    ] as const
  ) {
    const error = assertThrows(
      () => build(refused),
      OAuthClientError,
      "authorization_endpoint",
    );
    assertEquals(error.code, code, String(refused));
  }
  assertEquals(build("http://as.example", true).origin, "http://as.example");
});

Deno.test("buildAuthorizationUrl() names the argument that is wrong", () => {
  const url = new URL("https://x.example");
  const rows: [name: string, ...wrong: unknown[]][] = [
    ["clientId", undefined, null, "", 1, {}],
    ["redirectUri", undefined, null, "", 1, url],
    ["state", undefined, null, "", 1, ["s"]],
    ["codeChallenge", undefined, null, "", 1, {}],
    ["scopes", "read", 1, {}, [1], ["a", null]],
    ["resource", 1, true, {}, url],
    ["parameters", null, "x", 1, { x: {} }, { x: 1 }, { x: null }],
    ["parameters", new Map([["x", "1"]]), new URLSearchParams("x=1")],
  ];
  const calls: unknown[][] = rows.flatMap(([name, ...wrong]) =>
    wrong.map((value) => [name, server(), { ...options, [name]: value }])
  );
  calls.push(["options", server(), undefined], ["options", server(), null]);
  calls.push(["serverMetadata", undefined, options]);
  for (const [name, metadata, given] of calls) {
    const error = assertThrows(
      () =>
        buildAuthorizationUrl(
          metadata as IAuthorizationServerMetadata,
          given as IBuildAuthorizationUrlOptions,
        ),
      OAuthClientError,
      `${name} must be`,
    );
    assertEquals(error.code, "invalid_argument");
    assertFalse(error.message.includes(options.codeChallenge));
  }
});
