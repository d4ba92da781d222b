/** The sign-in of a diagnosis: what it does, in which order, and what it leaves behind. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import {
  codeFlow,
  createAuthorizedFetch,
  memoryStore,
  OAuthClientError,
  publicClient,
  type ServerMetadata,
} from "../../mod.ts";
import { diagnose } from "../../lib/doctor/mod.ts";
import { all, challenge, only, resource, server } from "./_changes.ts";
import {
  handler,
  members,
  REDIRECT_URI,
  signedIn,
  startSignInWorld,
  user,
} from "./_sign_in_world.ts";
import { TARGET } from "./_world.ts";
import { eachRowInTurn } from "../support/each_row.ts";

Deno.test("diagnose() signs in, calls, refreshes and revokes", async () => {
  const diagnosis = await signedIn();
  assertEquals(diagnosis.ids, []);
  assertEquals(diagnosis.verdict, "ready");
  assertEquals(diagnosis.notTried, []);
  const { origin, tokens } = diagnosis.model;
  assertEquals(
    diagnosis.summary,
    `A user has signed in at ${origin}/as: the resource accepts the token, and ` +
      "the refresh succeeds. Its tokens are revoked.",
  );
  const steps = diagnosis.steps.filter(({ sent }) => sent);
  assertEquals(
    steps.map(({ name, status, result, isExtra }) =>
      [name, status, result, isExtra].join(" ")
    ),
    [
      "registration 201 registered false",
      "authorization  came back false",
      "token 200 token false",
      "call 200 accepted false",
      "dead_call 401 refused true",
      "refresh 200 refreshed false",
      "revocation 200 revoked false",
      "revocation 200 revoked false",
      "dead_refresh 400 invalid_grant true",
    ],
  );
  const token = {
    ...{ token_type: "Bearer", scope: "read", expires_in: 3600 },
    ...{ hasRefreshToken: true, hasIdToken: false },
  };
  assertEquals(diagnosis.signIn, {
    flow: "code",
    client: { client_id: "client-1", source: "registration" },
    requestedScopes: ["read"],
    token,
    callStatus: 200,
    refresh: { ...token, isRotated: true },
    revocation: "revoked",
  });
  assertEquals([tokens.refresh.size, tokens.access()], [0, []]);
});

Deno.test("diagnose() makes the authorization request in the turn of the sign-in", async () => {
  const order: string[] = [];
  const turn = () => {
    order.push("begins");
    return Promise.resolve(() => void order.push("ends"));
  };
  const { signIn } = await signedIn(
    (model) => model.changes["/as/authorize"] = () => order.push("request"),
    { turn },
  );
  assertEquals(signIn?.callStatus, 200);
  assertEquals(order, ["begins", "request", "ends"]);
});

Deno.test("diagnose() shows what a sign-in sent and received, without its secrets", async () => {
  const { steps, model, ...rest } = await signedIn(
    members("/as/token", {
      "x-note": "for your eyes",
      refresh_token_timeout: 600,
      authorization_expires_in: 900,
    }),
    { parameters: { login_hint: "alice@example.org" } },
  );
  const { sent, received } = steps.find(({ name }) => name === "token") ?? {};
  assertEquals(sent, {
    grant_type: "authorization_code",
    code: "[hidden]",
    redirect_uri: REDIRECT_URI,
    code_verifier: "[hidden]",
    resource: `${model.origin}/mcp`,
    client_id: "client-1",
  });
  assertEquals(received, {
    access_token: "[hidden]",
    refresh_token: "[hidden]",
    token_type: "Bearer",
    expires_in: 3600,
    scope: "read",
    "x-note": "[hidden]",
    refresh_token_timeout: 600,
    authorization_expires_in: 900,
  });
  const { sent: call } = steps.find(({ name }) => name === "call") ?? {};
  assertEquals(call, { Authorization: "Bearer [hidden]" });
  const text = JSON.stringify({ steps, ...rest });
  for (const secret of [...model.tokens.issued, "alice", "for your eyes"]) {
    assert(!text.includes(secret), secret);
  }
  assert(model.tokens.issued.length > 4);
});

Deno.test("diagnose() shows no token that a server repeats in an error", async () => {
  const { findings, model } = await signedIn(all(
    handler("POST /as/revoke", async (request) => {
      const token = new URLSearchParams(await request.text()).get("token");
      const error = { error: "server_error", error_description: `No ${token}` };
      return Response.json(error, { status: 500 });
    }),
    handler("GET /mcp", ({ headers }) => {
      const words = `error_description="${headers.get("Authorization")}"`;
      const challenge = `Bearer error="invalid_token", ${words}`;
      return new Response(null, {
        status: 401,
        headers: { "WWW-Authenticate": challenge },
      });
    }),
  ));
  const text = JSON.stringify(findings);
  assertStringIncludes(text, "token_refused");
  assertStringIncludes(text, "request_failed");
  for (const secret of model.tokens.issued) {
    assert(!text.includes(secret), text);
  }
});

Deno.test("diagnose() signs in with the device flow", async () => {
  const shown: string[] = [];
  const diagnosis = await signedIn(() => {}, {
    redirectUri: undefined,
    visit: undefined,
    show: ({ user_code }: { user_code: string }) => void shown.push(user_code),
    delay: () => Promise.resolve(),
  } as never);
  assertEquals(diagnosis.verdict, "ready");
  assertEquals(diagnosis.signIn?.flow, "device");
  assertEquals(diagnosis.signIn?.revocation, "revoked");
  assertEquals(diagnosis.notTried, ["authorization_endpoint"]);
  assertEquals(shown.length, 1);
  assert(!JSON.stringify(diagnosis.steps).includes(shown[0]!));
});

Deno.test("diagnose() signs in with the options that the verdict names", async () => {
  const { summary, findings: [finding] } = await signedIn(
    server({ code_challenge_methods_supported: undefined }),
  );
  assertEquals(finding?.id, "pkce_not_listed");
  assertStringIncludes(summary, "if it assumes that PKCE is supported.");
  assertStringIncludes(summary, "A user has signed in");
  assertStringIncludes(finding?.client ?? "", "has succeeded with PKCE");
});

Deno.test("diagnose() sends the resource indicator of its caller, or none", async () => {
  for (const resourceIndicator of [false, "urn:notes"] as const) {
    const sent: unknown[] = [];
    await signedIn(() => {}, {
      resourceIndicator,
      visit(url: URL) {
        sent.push(url.searchParams.get("resource") ?? false);
        return user.visit(url);
      },
    });
    assertEquals(sent, [resourceIndicator]);
  }
});

Deno.test("diagnose() says only that a user has signed in if no token was used", async () => {
  // The target is a server, so there is no resource to call.
  await using world = startSignInWorld(all(
    members("/as/token", { refresh_token: undefined }),
    ({ handlers }) => {
      delete handlers["GET /.well-known/oauth-protected-resource/mcp"];
      handlers["GET /as"] = () => new Response(null, { status: 404 });
    },
  ));
  const target = world.target.replace(/mcp$/, "as");
  const { summary } = await diagnose(target, { signIn: user });
  assertMatch(summary, /^[^:]*A user has signed in at \S+\/as\. /);
});

Deno.test("diagnose() uses a client that it is given, and registers none", async () => {
  for (
    const change of [() => {}, server({ registration_endpoint: undefined })]
  ) {
    const { signIn, verdict, summary, notTried } = await signedIn(change, {
      client: publicClient("c2"),
    });
    assertEquals(signIn?.client, { client_id: "c2", source: "option" });
    assertEquals([verdict, notTried], ["ready", []]);
    assertMatch(
      summary,
      /^A user has signed in at .* with the client that was/,
    );
  }
});

Deno.test("diagnose() signs in at a server that its caller describes, and at none that would be a guess", async () => {
  await using world = startSignInWorld(all(challenge("Bearer"), only()));
  const { target, model: { serverMetadata }, requests } = world;
  const signIn = { ...user, client: publicClient("c1") };
  const guess = await diagnose(target, { signIn });
  assertEquals([guess.verdict, guess.signIn], ["needs_option", undefined]);
  const unregistered = await diagnose(target, { signIn: user });
  assertEquals(unregistered.signIn, undefined);
  assert(requests.every((line) => line.startsWith("GET")));
  const known = await diagnose(target, {
    serverMetadata: serverMetadata as unknown as ServerMetadata,
    signIn,
  });
  assertEquals([known.verdict, known.signIn?.callStatus], ["ready", 200]);
  assertEquals(
    known.given?.map(({ name }) => name),
    ["serverMetadata", "client"],
  );
  assert(known.steps.every(({ name }) => !/metadata|endpoint/.test(name)));
});

Deno.test("diagnose() signs nobody in without a client, or where a client stops", async () => {
  const rows: [verdict: string, members: Record<string, unknown>][] = [
    ["needs_client", { registration_endpoint: undefined }],
    ["broken", { code_challenge_methods_supported: ["plain"] }],
  ];
  await eachRowInTurn(rows, async ([expected, members]) => {
    const visit = () => Promise.reject(new Error("Unexpected visit"));
    const { verdict, signIn } = await signedIn(server(members), { visit });
    assertEquals([verdict, signIn], [expected, undefined]);
  });
});

Deno.test("diagnose() passes on what visit throws, and no error of the library", async () => {
  const error = new Error("no browser");
  const thrown = await assertRejects(() =>
    signedIn(() => {}, { visit: () => Promise.reject(error) })
  );
  assertEquals(thrown, error);
});

Deno.test("diagnose() rejects a sign-in that cannot be made", async () => {
  const client = { client_id: "c1", client_secret: "s3cret" };
  const rows: [signIn: unknown, words: string][] = [
    [{}, "signIn"],
    [{ visit: 1 }, "signIn"],
    [null, "signIn"],
    [{ ...user, client }, "issuer"],
  ];
  for (const [signIn, words] of rows) {
    await assertRejects(
      () => diagnose(TARGET, { signIn: signIn as never }),
      OAuthClientError,
      words,
    );
  }
});

Deno.test("diagnose() binds the tokens to a key where the resource requires it", async () => {
  const proofs: (string | null)[] = [];
  const diagnosis = await signedIn(all(
    resource({ dpop_bound_access_tokens_required: true }),
    handler("GET /mcp", (request, usual) => {
      proofs.push(request.headers.get("DPoP"));
      return usual(request);
    }),
  ));
  assertEquals(diagnosis.signIn?.callStatus, 200);
  assertEquals(diagnosis.ids, ["info dpop_required"]);
  assertEquals(proofs.filter(Boolean).length, 2);
});

Deno.test("diagnose() sends its User-Agent with every request", async () => {
  const agents = new Set<string | null>();
  await using world = startSignInWorld();
  await diagnose(world.target, {
    ...{ userAgent: "Doctor/1", signIn: user },
    fetch(url, init) {
      agents.add(new Headers(init.headers).get("User-Agent"));
      return fetch(url, init);
    },
  });
  assertEquals([...agents], ["Doctor/1"]);
});

Deno.test("diagnose() sends a server of MCP its first request, where a GET needs more than a token", async () => {
  const methods: string[] = [];
  const { ids, signIn, steps } = await signedIn((model) => {
    const hasToken = ({ headers }: Request) =>
      model.tokens.access().includes(
        headers.get("Authorization")?.slice(7) ?? "",
      );
    handler("GET /mcp", (request, usual) => {
      if (!hasToken(request)) return usual(request);
      const error = { code: -32_000, message: "No session" };
      const body = { jsonrpc: "2.0", id: null, error };
      return Response.json(body, { status: 401 });
    })(model);
    handler("POST /mcp", async (request) => {
      if (!hasToken(request)) return new Response(null, { status: 401 });
      methods.push((await request.json()).method);
      return Response.json({ jsonrpc: "2.0", id: 1, result: {} });
    })(model);
  });
  assertEquals(ids, []);
  assertEquals([methods, signIn?.callStatus], [["initialize"], 200]);
  assertEquals(
    steps.filter(({ name }) => name === "call")
      .map(({ method, status }) => `${method} ${status}`),
    ["GET 401", "POST 200"],
  );
});

Deno.test("diagnose() sends no POST with a token to what is no server of MCP", async () => {
  const { ids, steps } = await signedIn((model) => {
    const body = { error: "unauthorized" };
    handler("GET /mcp", () => Response.json(body, model.resource))(model);
  });
  assertEquals(ids, ["error token_refused"]);
  const calls = steps.filter(({ name }) => name === "call");
  assertEquals(calls.map(({ method }) => method), ["GET"]);
});

Deno.test("diagnose() claims of no response but a 2xx that the resource accepts the token", async () => {
  for (const status of [204, 302, 400, 403, 404, 429]) {
    const { summary, steps } = await signedIn(
      handler(
        "GET /mcp",
        (request, usual) =>
          request.headers.has("Authorization")
            ? new Response(null, { status })
            : usual(request),
      ),
    );
    const { result } = steps.find(({ name }) => name === "call") ?? {};
    const words = status === 204
      ? "accepts the token"
      : `responds to the token with ${status}`;
    if (status !== 403) {
      assertStringIncludes(summary, `: the resource ${words}`);
    }
    assertEquals(
      result,
      status === 204 ? "accepted" : status === 403 ? "refused" : "not accepted",
    );
  }
});

Deno.test("diagnose() requests the scopes that a fetch requests, also with scopes of the caller", async () => {
  const names = [undefined, "read", "write extra"];
  for (const scope of names) {
    const change = challenge((origin) =>
      `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"` +
      (scope === undefined ? "" : `, scope="${scope}"`)
    );
    for (const scopes of [undefined, ["write"]]) {
      await using world = startSignInWorld(change);
      const requested: (string | null)[] = [];
      const visit = (url: URL) => {
        requested.push(url.searchParams.get("scope"));
        return user.visit(url);
      };
      const signIn = { ...user, visit, scopes };
      const diagnosis = await diagnose(world.target, { signIn });
      const api = createAuthorizedFetch(world.target, {
        store: memoryStore(),
        flow: codeFlow({
          ...signIn,
          clientMetadata: { client_name: "Test" },
        }),
      });
      await (await api(world.target)).body?.cancel();
      const [byDoctor, byFetch] = requested;
      assertEquals(byDoctor, byFetch, `${scope}, ${scopes}`);
      assertEquals(
        diagnosis.signIn?.requestedScopes,
        byDoctor?.split(" "),
      );
    }
  }
});

const partOf = (value: unknown) =>
  btoa(JSON.stringify(value)).replace(/=/g, "");

Deno.test("diagnose() compares the issuer and the audience of a JWT that the resource refuses", async () => {
  const messageFor = async (claims: (origin: string) => object) => {
    const { findings, model } = await signedIn((model) => {
      const token = [{ alg: "none" }, claims(model.origin)].map(partOf);
      members("/as/token", { access_token: [...token, "x"].join(".") })(model);
      const challenge = 'Bearer error="invalid_token"';
      const headers = { "WWW-Authenticate": challenge };
      handler("GET /mcp", () => new Response(null, { status: 401, headers }))(
        model,
      );
    });
    const refused = findings.find(({ id }) => id === "token_refused");
    return refused?.message.replaceAll(model.origin, "ORIGIN");
  };
  const refusal = "The resource rejects the token that was just issued: " +
    "invalid_token.";
  assertEquals(
    await messageFor(() => ({ iss: "https://other.example", aud: ["a", "b"] })),
    `${refusal} Its \`iss\` is https://other.example, and the issuer is ` +
      "ORIGIN/as. Its `aud` is a, b, and the resource is ORIGIN/mcp.",
  );
  const right = (origin: string) => ({
    iss: `${origin}/as`,
    aud: ["a", `${origin}/mcp`],
  });
  assertEquals(
    await messageFor(right),
    `${refusal} Its \`iss\` and \`aud\` are the issuer and the resource.`,
  );
  assertEquals(await messageFor(() => ({})), refusal);
});

Deno.test("diagnose() says what to change at a token endpoint only where something says so", async () => {
  const findingFor = async (response: () => Response) => {
    const { findings } = await signedIn(handler("POST /as/token", response));
    const [finding] = findings.filter(({ id }) => id === "request_failed");
    return finding!;
  };
  const moved = await findingFor(() =>
    Response.redirect("https://as.example/token/?x", 301)
  );
  assertEquals(
    moved.message,
    "The token endpoint redirects to https://as.example/token/.",
  );
  assertStringIncludes(moved.operator, "follow no redirect");
  assertEquals(moved.client, undefined);
  const bare = await findingFor(() => new Response(null, { status: 400 }));
  assertEquals(bare.client, undefined);
  const named = await findingFor(() =>
    Response.json({ error: "invalid_request" }, { status: 400 })
  );
  assertStringIncludes(named.client ?? "", "server's error");
});
