/** Options that the doctor proposes itself: a sign-in does not run with all of them. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { publicClient } from "../../mod.ts";
import { diagnose, type DiagnoseOptions } from "../../lib/doctor/mod.ts";
import {
  REDIRECT_URI,
  type SignInModel,
  withSignIn,
} from "./_sign_in_world.ts";
import { handle, healthyModel, TARGET } from "./_world.ts";
import { eachRowInTurn } from "../support/each_row.ts";

const EVIL = new URL(TARGET).origin;
const GOOD = "https://good.example";

const ENDPOINTS = [
  "authorization_endpoint",
  "token_endpoint",
  "registration_endpoint",
  "revocation_endpoint",
  "device_authorization_endpoint",
];

const moved =
  (origin: string, names: readonly string[] = ENDPOINTS) =>
  ({ serverMetadata }: SignInModel) => {
    for (const name of names) {
      const { pathname } = new URL(String(serverMetadata[name]));
      serverMetadata[name] = origin + pathname;
    }
  };

const SECRET = {
  issuer: `${GOOD}/as`,
  client_id: "c1",
  client_secret: "s3cret-of-good",
};

/** Signs in at a server that is not on loopback; returns what was sent to it. */
async function signInAt(
  change: (model: SignInModel) => void,
  { signIn, ...options }: DiagnoseOptions = {},
) {
  const model = withSignIn(healthyModel(EVIL));
  change(model);
  const sent: string[] = [];
  let visits = 0;
  const answer = async (url: string, init?: RequestInit) => {
    sent.push([init?.method ?? "GET", url, init?.body ?? ""].join(" "));
    return await handle(model, new Request(url, init));
  };
  const diagnosis = await diagnose(TARGET, {
    fetch: (url, init) => answer(url, init as RequestInit),
    ...options,
    signIn: {
      redirectUri: REDIRECT_URI,
      async visit(url: URL) {
        visits++;
        return (await answer(url.href)).headers.get("Location") ?? "";
      },
      ...signIn,
    } as DiagnoseOptions["signIn"],
  });
  const posts = sent.filter((line) => line.startsWith("POST"));
  return { diagnosis, sent, posts, visits };
}

const claimed = (model: SignInModel) => {
  model.serverMetadata.issuer = `${GOOD}/as`;
  model.changes["/as/authorize"] = (members) => members.iss = `${GOOD}/as`;
};

Deno.test("diagnose() signs in at no claimed issuer whose endpoints are elsewhere", async () => {
  const device = {
    visit: undefined,
    show: () => Promise.reject(new Error("Unexpected code")),
    delay: () => Promise.resolve(),
  } as never;
  const rows: [name: string, change: typeof claimed, options?: object][] = [
    ["a secret", claimed, { client: SECRET }],
    ["a secret, and no visit", claimed, {
      ...device as object,
      client: SECRET,
    }],
    ["the code of another server", (model) => {
      claimed(model);
      moved(GOOD, ["authorization_endpoint"])(model);
    }, { client: publicClient("c1", { issuer: `${GOOD}/as` }) }],
    ["a registration at the other server", (model) => {
      claimed(model);
      moved(GOOD, ENDPOINTS.filter((name) => name !== "revocation_endpoint"))(
        model,
      );
    }],
    ["a client of the server that was named", (model) => {
      claimed(model);
      moved(GOOD)(model);
    }, { client: { ...SECRET, issuer: `${EVIL}/as` } }],
  ];
  await eachRowInTurn(rows, async ([name, change, signIn]) => {
    const { diagnosis, posts, visits } = await signInAt(change, {
      signIn: signIn as never,
    });
    assertEquals([posts, visits, diagnosis.signIn], [[], 0, undefined], name);
    assertEquals(diagnosis.verdict, "needs_option", name);
    assert(diagnosis.notTried?.includes("token_endpoint"), name);
    assertMatch(diagnosis.summary, /Not tried: .* No sign-in is tried until/);
  });
});

Deno.test("diagnose() signs in by metadata that a resource republishes", async () => {
  const rows: [name: string, signIn?: object][] = [
    ["a registration"],
    ["a client of the claimed issuer", { client: SECRET }],
    ["a client of no issuer", { client: publicClient("c1") }],
  ];
  await eachRowInTurn(rows, async ([name, signIn]) => {
    const { diagnosis, posts } = await signInAt((model) => {
      claimed(model);
      moved(GOOD)(model);
    }, { signIn: signIn as never });
    assertEquals(diagnosis.signIn?.callStatus, 200, name);
    assertEquals(diagnosis.verdict, "needs_option", name);
    for (const line of posts) assert(line.startsWith(`POST ${GOOD}/`), line);
  });
});

Deno.test("diagnose() sends nothing over http or to loopback that the caller did not allow", async () => {
  for (const origin of ["http://127.0.0.1:6379", "http://api.example"]) {
    for (const name of ENDPOINTS) {
      const { diagnosis, sent, posts, visits } = await signInAt(
        moved(origin, [name]),
      );
      assertEquals([posts, visits], [[], 0], `${origin} ${name}`);
      assert(!sent.some((line) => line.includes(` ${origin}/`)), `${sent}`);
      assertEquals(diagnosis.signIn, undefined);
    }
  }
});

Deno.test("diagnose() signs in with the options of its caller", async () => {
  const { diagnosis: trusted } = await signInAt(claimed, {
    trustedIssuers: { [`${EVIL}/as`]: `${GOOD}/as` },
  });
  assertEquals([trusted.verdict, trusted.signIn?.callStatus], ["ready", 200]);
  const { diagnosis: http } = await signInAt(
    moved("http://api.example", ["token_endpoint"]),
    { allowHttp: true },
  );
  assertEquals([http.verdict, http.signIn?.callStatus], ["ready", 200]);
});

Deno.test("diagnose() uses no token beside metadata of another resource before its caller has named the server", async () => {
  const change = ({ resourceMetadata }: SignInModel) =>
    void (resourceMetadata.resource = `${GOOD}/mcp`);
  const { diagnosis, posts, visits } = await signInAt(change);
  assertEquals([posts, visits, diagnosis.signIn], [[], 0, undefined]);
  assertEquals([diagnosis.verdict, diagnosis.options], ["broken", undefined]);
  const { diagnosis: named } = await signInAt(change, {
    authorizationServer: `${EVIL}/as`,
  });
  assertEquals([named.verdict, named.signIn?.callStatus], ["ready", 200]);
});
