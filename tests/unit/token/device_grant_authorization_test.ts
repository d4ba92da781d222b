/** A device authorization has codes to poll with and a URL that is safe to show. */

import {
  assertEquals,
  assertInstanceOf,
  assertNotMatch,
  assertStrictEquals,
  assertStringIncludes,
} from "@std/assert";
import {
  clientSecretBasic,
  clientSecretPost,
  fetchDeviceAuthorization,
  type FetchDeviceAuthorizationOptions,
  OAuthClientError,
  publicClient,
} from "../../../mod.ts";
import {
  AS,
  assertInvalidArgument,
  DEVICE_AUTHORIZATION,
  DEVICE_AUTHORIZATION_ENDPOINT,
  SERVER,
} from "../../support/fixtures.ts";
import {
  aborted,
  type Answer,
  json,
  redirect,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

/** Starts a device authorization at the time of 1000.9 s. */
async function start(
  answer: Answer,
  options: Partial<FetchDeviceAuthorizationOptions> = {},
  server = SERVER,
) {
  using stubbed = stubFetch({ [DEVICE_AUTHORIZATION_ENDPOINT]: answer });
  const result = await fetchDeviceAuthorization(server, {
    fetch: stubbed.fetch,
    client: publicClient("c1"),
    now: () => 1_000_900,
    ...options,
  }).catch((error) => error);
  return { result, requests: stubbed.requests };
}

const responseWith = (members: Record<string, unknown>) =>
  json({ ...DEVICE_AUTHORIZATION, ...members });

Deno.test("fetchDeviceAuthorization() posts client, scopes, resource and further parameters", async () => {
  const all = {
    parameters: { x: "1" },
    scopes: ["a", "b"],
    resource: "https://api.example",
    authorizationDetails: [{ type: "a" }],
  };
  const sent = "resource=https%3A%2F%2Fapi.example&scope=a+b" +
    "&authorization_details=%5B%7B%22type%22%3A%22a%22%7D%5D&x=1&client_id=c1";
  const rows: [Partial<FetchDeviceAuthorizationOptions>, body: string][] = [
    [{}, "client_id=c1"],
    [{ scopes: [], resource: false }, "client_id=c1"],
    [all, sent],
    [{ client: clientSecretBasic("c1", "s") }, ""],
  ];
  await eachRowInTurn(rows, async ([options, body]) => {
    const { requests } = await start(json(DEVICE_AUTHORIZATION), options);
    assertEquals(requests.map(({ body }) => body), [body]);
    assertEquals(requests[0]?.method, "POST");
    assertEquals(requests[0]?.headers.Accept, "application/json");
  });
});

const complete = {
  verification_uri_complete: `${AS}/activate?user_code=WDJB-MJHT`,
};
const MEMBERS: [members: object, expected: object][] = [
  [{}, {}],
  [{ interval: 7 }, { interval: 7 }],
  [{ interval: 0 }, { interval: 0 }],
  [{ interval: "7" }, { interval: 7 }],
  [{ expires_in: "60" }, { expires_in: 60, expires_at: 1060 }],
  [{ interval: null }, {}],
  [{ interval: "soon" }, {}],
  [complete, complete],
  [{ verification_uri_complete: null }, {}],
  [{ verification_uri: undefined, verification_url: `${AS}/u` }, {
    verification_uri: `${AS}/u`,
  }],
  [{ verification_url: "https://other.example/" }, {}],
  [{ message: "Go there" }, {}],
  // A Cyrillic letter is not shown as the Latin one.
  [{
    verification_uri: "https://\u0430pple.example/device",
    verification_uri_complete: "https://\u0430pple.example/device?a",
  }, {
    verification_uri: "https://xn--pple-43d.example/device",
    verification_uri_complete: "https://xn--pple-43d.example/device?a",
  }],
  [{ user_code: "W".repeat(64) }, { user_code: "W".repeat(64) }],
  // Other languages stay.
  [{ user_code: "コード-ÄÖ" }, { user_code: "コード-ÄÖ" }],
];

for (const [members, expected] of MEMBERS) {
  Deno.test(`fetchDeviceAuthorization() reads ${JSON.stringify(members)}`, async () => {
    const { result } = await start(responseWith({ ...members }));
    const usual = { ...DEVICE_AUTHORIZATION, expires_at: 1600 };
    assertEquals(result, { ...usual, ...expected });
  });
}

Deno.test("fetchDeviceAuthorization() fails without a usable required member", async () => {
  const answers = [
    text("<html>", 200),
    json([DEVICE_AUTHORIZATION]),
    ...Object.keys(DEVICE_AUTHORIZATION).flatMap((name) =>
      [undefined, null, "", 0, -1, true, [], [1], {}]
        .map((value) => responseWith({ [name]: value }))
    ),
    responseWith({ expires_in: "x" }),
    responseWith({ user_code: "WDJB".padEnd(65, "-") }),
    // Control and bidi characters would change what a terminal shows.
    ...["\u001b[2J", "\u0007", "\u202e", "\u2066", "\n"]
      .map((char) => responseWith({ user_code: `WDJB${char}MJHT` })),
  ];
  for (const answer of answers) {
    const { result } = await start(answer);
    assertInstanceOf(result, OAuthClientError);
    const { code, url, message } = result;
    const endpoint = DEVICE_AUTHORIZATION_ENDPOINT;
    assertEquals([code, url], ["invalid_response", endpoint]);
    assertNotMatch(message, /d1|WDJB/);
  }
});

Deno.test("fetchDeviceAuthorization() refuses an unsafe URL for the user", async () => {
  const urls = [
    ...["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd"],
    ...["http://as.example/activate", "/activate", "https://as.example/\u0000"],
    ...["https://user:s3cret@as.example/activate", "https://localhost/x"],
    "https://user:s3cret@\u0430s.example/activate",
    "http://127.0.0.1:8080/x",
  ];
  const names = ["uri", "url", "uri_complete"];
  for (const url of urls) {
    for (const name of names.map((name) => `verification_${name}`)) {
      const { verification_uri: _, ...rest } = DEVICE_AUTHORIZATION;
      const base = name === "verification_url" ? rest : DEVICE_AUTHORIZATION;
      const { result } = await start(json({ ...base, [name]: url }));
      const shown = [result.code, result.url, result.status];
      const endpoint = DEVICE_AUTHORIZATION_ENDPOINT;
      assertEquals(shown, ["url_refused", endpoint, 200]);
      assertNotMatch(result.message, /s3cret/);
    }
  }
  const verification_uri = "http://as.example/activate";
  const allowed = responseWith({ verification_uri });
  const { result } = await start(allowed, { allowHttp: true });
  assertEquals(result.verification_uri, verification_uri);
});

Deno.test("fetchDeviceAuthorization() reports failures of the request", async () => {
  const error = json({ error: "slow_down" }, { status: 400 });
  const { result: refused } = await start(error);
  assertEquals([refused.code, refused.error], ["oauth_error", "slow_down"]);
  pinMessage(refused);
  const moved = await start(redirect("/moved"));
  assertEquals(moved.result.code, "redirect_refused");
  const { answer, signal, reason } = aborted();
  const { result } = await start(answer, { signal });
  assertStrictEquals(result, reason);
});

Deno.test("fetchDeviceAuthorization() makes no request at a server without the endpoint, or with another issuer's client", async () => {
  const { device_authorization_endpoint: _, ...server } = SERVER;
  const none = await start(json({}), {}, server);
  assertEquals([none.result.code, none.requests], ["unsupported", []]);
  assertStringIncludes(none.result.message, "no device_authorization_endpoint");
  const client = clientSecretPost("c1", "s", { issuer: "https://o.example" });
  const other = await start(json({}), { client });
  assertEquals([other.result.code, other.requests], ["issuer_mismatch", []]);
});

Deno.test("fetchDeviceAuthorization() rejects invalid arguments before any request", async () => {
  const rows: [options: Record<string, unknown>, name: string][] = [
    // Without a client the request would have no client_id.
    [{ client: undefined }, "options.client"],
    [{ client: null }, "options.client"],
    [{ scopes: ["a b"] }, "scopes"],
    [{ resource: 7 }, "resource"],
    [{ parameters: { client_id: "c2" } }, "parameters"],
  ];
  await eachRowInTurn(rows, async ([options, name]) => {
    const { result, requests } = await start(json({}), untyped(options));
    await assertInvalidArgument(() => Promise.reject(result), name);
    assertEquals(requests, []);
  });
});
