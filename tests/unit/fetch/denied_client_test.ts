/** A sign-in that the user has denied keeps its registration, for the store object. */
import { assertEquals, assertRejects } from "@std/assert";
import {
  codeFlow,
  createAuthorizedFetch,
  deviceFlow,
  type Flow,
  memoryStore,
  OAuthClientError,
  type PendingAuthorization,
} from "../../../mod.ts";
import {
  AS,
  CODE_SERVER,
  DEVICE_AUTHORIZATION,
  DEVICE_AUTHORIZATION_ENDPOINT,
  MCP,
  REDIRECT_URI,
} from "../../support/fixtures.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

const clientMetadata = { client_name: "Test" };
const DENIED = "error=access_denied";
const CODE = "code=c0de";
const PAR = CODE_SERVER.pushed_authorization_request_endpoint;

/** How a visit ends: with a query, to which the `state` is added, or an error. */
type End = string | Error;

/** A program without a session, and how many clients it has registered. */
function world() {
  let registered = 0;
  let rejected = "";
  const store = memoryStore();
  const ends: End[] = [];
  const visited: PendingAuthorization[] = [];
  const fetch = (async (input: string, init?: RequestInit) => {
    const { url, body } = { url: String(input), body: init?.body };
    const form = new URLSearchParams(String(body));
    const isRejected = form.get("client_id") === rejected;
    const error = (name: string) =>
      Response.json({ error: name }, { status: isRejected ? 401 : 400 });
    await Promise.resolve();
    if (url === `${AS}/register`) {
      return Response.json({
        ...JSON.parse(String(body)),
        client_id: `c${++registered}`,
      });
    }
    if (url === DEVICE_AUTHORIZATION_ENDPOINT) {
      return Response.json(DEVICE_AUTHORIZATION);
    }
    if (isRejected) return error("invalid_client");
    if (url === PAR) {
      return Response.json({ request_uri: "urn:r:1", expires_in: 60 });
    }
    if (url !== `${AS}/token`) return new Response();
    return form.has("device_code") && ends.shift() !== CODE
      ? error("access_denied")
      : Response.json({ access_token: "a1" });
  }) as typeof globalThis.fetch;
  const code = (redirectUri = REDIRECT_URI) =>
    codeFlow({
      redirectUri,
      clientMetadata,
      visit: (_url, { pending }) => {
        visited.push(pending);
        const end = ends.shift() ?? CODE;
        return typeof end === "string"
          ? Promise.resolve(
            /state/.test(end) ? end : `state=${pending.state}&${end}`,
          )
          : Promise.reject(end);
      },
    });
  const device = deviceFlow({
    clientMetadata,
    show: () => {},
    delay: () => Promise.resolve(),
  });
  const apiWith = (authorize: Flow, own = store, isPushed = false) =>
    createAuthorizedFetch(MCP, {
      flow: authorize,
      store: own,
      fetch,
      serverMetadata: {
        ...CODE_SERVER,
        device_authorization_endpoint: DEVICE_AUTHORIZATION_ENDPOINT,
        require_pushed_authorization_requests: isPushed,
        ...!isPushed && { pushed_authorization_request_endpoint: undefined },
      },
    });
  return {
    ...{ code, device, apiWith, visited },
    /** Has the user sign in for each end; returns how many clients are registered. */
    async after(api: ReturnType<typeof apiWith>, ...next: End[]) {
      for (const end of next) {
        ends.push(end);
        if (end === CODE) await api.signIn({ fresh: true });
        else await assertRejects(() => api.signIn());
      }
      return registered;
    },
    reject: (client: string) => rejected = client,
  };
}

Deno.test("a sign-in that the user denied keeps its registration until there is a session", async () => {
  const { apiWith, code, device, after } = world();
  const store = memoryStore();
  const api = apiWith(code(), store);
  assertEquals(await after(api, DENIED, DENIED, DENIED, CODE), 1);
  assertEquals((await store.load())?.client?.client_id, "c1");
  // Not beyond it: the next one could be deleted at the server with the session.
  await api.revoke();
  assertEquals(await after(api, CODE), 2);
  // Another store object is of another user, or of another process.
  const ofDevice = apiWith(device);
  assertEquals(await after(ofDevice, DENIED, DENIED, CODE), 3);
});

/** What ends the second sign-in, and whether the third one registers a client. */
const ENDS: [end: End, registersAgain: boolean][] = [
  [DENIED, false],
  // Of no server, or of another one.
  [`${DENIED}&state=other`, true],
  [`${DENIED}&iss=https://evil.example`, true],
  // The server may not know the client, or not for this request.
  ["error=unauthorized_client", true],
  ["error=invalid_scope", true],
  ["error=server_error", true],
  // The user may have seen that the server does not know the client.
  [new OAuthClientError("timeout", "Left"), true],
  [new OAuthClientError("popup_closed", "Closed"), true],
  [new DOMException("Left", "AbortError"), true],
];

Deno.test("a sign-in keeps a registration only if the server says that the user denied", async () => {
  await eachRowInTurn(ENDS, async ([end, registersAgain]) => {
    const { apiWith, code, after } = world();
    const api = apiWith(code());
    assertEquals(await after(api, DENIED, end, CODE), registersAgain ? 2 : 1);
    const other = world();
    const first = other.apiWith(other.code());
    assertEquals(await other.after(first, end, CODE), registersAgain ? 2 : 1);
  });
});

Deno.test("a client of a denied sign-in that the server rejects is replaced", async () => {
  await eachRowInTurn([false, true], async (isPushed) => {
    const { apiWith, code, after, reject } = world();
    const api = apiWith(code(), undefined, isPushed);
    assertEquals(await after(api, DENIED), 1);
    reject("c1");
    assertEquals(await after(api, "code=rejected"), 1);
    assertEquals(await after(api, CODE), 2);
  });
});

Deno.test("a client of a denied sign-in is not used with another redirect URI", async () => {
  const { apiWith, code, after } = world();
  assertEquals(await after(apiWith(code()), DENIED), 1);
  const other = apiWith(code("https://app.example/callback"));
  assertEquals(await after(other, CODE), 2);
});

Deno.test("a flow that a function calls twice in one sign-in registers one client", async () => {
  const { apiWith, code, after } = world();
  const flow = code();
  const twice: Flow = (request) => flow(request).then(() => flow(request));
  assertEquals(await after(apiWith(twice), CODE), 1);
});

Deno.test("finish() keeps the registration of a sign-in that the user denied", async () => {
  const { apiWith, code, after, visited } = world();
  // As in a page that was left for the sign-in.
  const left = new OAuthClientError("redirected", "Left");
  await after(apiWith(code()), left);
  const [pending] = visited;
  for (
    const [query, registered] of [[DENIED, 1], ["error=other", 2]] as const
  ) {
    const api = apiWith(code(), memoryStore());
    const callback = `${query}&state=${pending!.state}`;
    await assertRejects(() => api.finish(callback, pending!), OAuthClientError);
    assertEquals(await after(api, CODE), registered);
  }
});
