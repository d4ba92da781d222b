/** The sentences of README.md and the pages that promise a number of sign-ins. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  codeFlow,
  isOAuthClientError,
  memoryStore,
  OAuthClientError,
} from "../../mod.ts";
import { LIMIT_MS, until } from "../support/within.ts";
import {
  processes,
  type Sentence,
  testSentences,
  type World,
  world,
} from "./world.ts";

/** Twenty calls at once of so many processes: one page, then one refresh. */
async function callAtOnce(
  { servers, open, call, pages, refreshes }: World,
  count: number,
) {
  const apis = processes(count).map((store) => open({ store }));
  const calls = () =>
    Promise.all(Array.from({ length: 20 }, (_, n) => call(apis[n % count]!)));
  for (const expected of [[1, 0], [1, 1]]) {
    assertEquals(new Set(await calls()), new Set([200]));
    assertEquals([pages(), refreshes()], expected);
    servers.advance(3600);
  }
}

/** Only a button asks. */
async function ask({ servers, open, call, pages, refreshes }: World) {
  const api = open({ signInOn: "signIn" });
  for (const _ of [1, 2]) assertEquals(await call(api), "sign_in_required");
  assertEquals(pages(), 0);
  await api.signIn();
  servers.advance(3600);
  assertEquals([await call(api), pages(), refreshes()], [200, 1, 1]);
}

/** After a tab that was closed, calls do not ask, until the user wishes it. */
async function askOnce({ open, call, pages, closeTab }: World) {
  const api = open();
  await closeTab(api);
  for (const _ of [1, 2]) assertEquals(await call(api), "sign_in_required");
  assertEquals(pages(), 1);
  await api.signIn();
  assertEquals([await call(api), pages()], [200, 2]);
}

/** One page for a URL that refuses each token, also one of 15. */
async function refuseEach({ servers, open, call, pages, refuse }: World) {
  const api = open();
  refuse("");
  for (let n = 0; n < 20; n++) {
    assertEquals(await call(api, `/${n % 15}`), 401);
  }
  assertEquals(pages(), 1);
  await api.signIn();
  assertEquals([await call(api, "/0"), pages()], [401, 2]);
  servers.intercept = () => undefined;
  assertEquals([await call(api, "/0"), pages()], [200, 2]);
}

const README = "README.md";
const SESSIONS = ".github/docs/sessions.md";
const PROMPTS = ".github/docs/prompts.md";
const SYMPTOMS = ".github/docs/symptoms.md";
const HOST = ".github/docs/host.md";

const SENTENCES: Sentence[] = [
  [
    README,
    "Run it again and no browser opens.",
    async ({ open, call, pages }) => {
      const store = memoryStore();
      for (const _ of [1, 2]) assertEquals(await call(open({ store })), 200);
      assertEquals(pages(), 1);
    },
  ],
  [
    README,
    "Concurrent calls share one sign-in and one refresh, also of processes with the same store.",
    async () => {
      for (const count of [1, 4, 20]) await callAtOnce(world(), count);
    },
  ],
  [
    README,
    "The user is prompted when there's no session or the server has revoked it. If they close the page, the call fails after five minutes. Later calls of the process then fail immediately, until you call `api.signIn()`.",
    async ({ servers, open, call, pages, closeTab }) => {
      const api = open();
      assertEquals([await call(api), pages()], [200, 1]);
      servers.revoke();
      assertEquals([await call(api), pages()], [200, 2]);
      servers.revoke();
      await closeTab(api);
      assertEquals([await call(api), pages()], ["sign_in_required", 3]);
    },
  ],
  [
    README,
    'With `signInOn: "signIn"`, only `api.signIn()` prompts.',
    ask,
  ],
  [
    SESSIONS,
    "Calls at the same time share one refresh and its result.",
    (world) => callAtOnce(world, 1),
  ],
  [
    PROMPTS,
    "If the server doesn't grant a scope that the API requires, your call returns the `403`. The library doesn't start another sign-in for the same requirement.",
    async ({ servers, open, call, pages }) => {
      const api = open();
      assertEquals(await call(api), 200);
      servers.requiredScopes = ["read", "write"];
      servers.withheldScopes = ["write"];
      for (const _ of [1, 2, 3]) assertEquals(await call(api), 403);
      assertEquals(pages(), 2);
    },
  ],
  [
    PROMPTS,
    "A single call renews its token at most three times. After that, the call returns the API's response, whatever it is.",
    async ({ open, call, pages, refuse }) => {
      const api = open();
      assertEquals(await call(api), 200);
      const scope = () => `scope="s${pages()}"`;
      refuse("", 403, () => `Bearer error="insufficient_scope", ${scope()}`);
      assertEquals([await call(api), pages()], [403, 4]);
    },
  ],
  [
    PROMPTS,
    "If a URL rejects the token of a sign-in that a call has just started, the library gives up on that URL. That lasts until the URL accepts a token",
    refuseEach,
  ],
  [
    PROMPTS,
    "A token that is revoked early still starts a sign-in, every time it happens.",
    async ({ servers, open, call, pages, refreshes, refuse }) => {
      const api = open();
      assertEquals(await call(api), 200);
      refuse("/admin");
      assertEquals([await call(api, "/admin"), pages()], [401, 2]);
      for (const more of [1, 2, 3]) {
        assertEquals(await call(api), 200);
        servers.revoke();
        assertEquals([await call(api, "/admin"), pages()], [401, 1 + more]);
        assertEquals([await call(api), pages()], [200, 2 + more]);
      }
      const before = refreshes();
      servers.expireAccessTokens();
      assertEquals([await call(api, "/new"), refreshes()], [200, before + 1]);
    },
  ],
  [
    PROMPTS,
    "If the user saw the sign-in but didn't finish it, later calls fail with `sign_in_required`, and the original error is its `cause`. A sign-in counts as unfinished if: - the user closed the tab, and the sign-in timed out - the user declined - your signal aborted the call",
    async (world) => {
      await askOnce(world);
      const { servers, open, call, pages } = world;
      const [refused, aborted] = [open(), open()];
      servers.user = "refuses";
      assertEquals(await call(refused), "access_denied");
      const { cause } = await assertRejects(
        () => refused(servers.resource),
        OAuthClientError,
      );
      assert(isOAuthClientError(cause) && cause.error === "access_denied");
      servers.user = "leaves";
      const before = pages();
      const leaving = new AbortController();
      const { signal } = leaving;
      const left = assertRejects(() => aborted(servers.resource, { signal }));
      await until(LIMIT_MS, () => pages() > before);
      leaving.abort();
      await left;
      assertEquals(await call(aborted), "sign_in_required");
      assertEquals(pages(), before + 1);
    },
  ],
  [
    PROMPTS,
    "This lasts until you call `api.signIn()`, or until this or another process saves a new session.",
    async ({ servers, open, call, pages, closeTab }) => {
      const [store, other] = processes(2);
      const api = open({ store });
      await closeTab(api);
      assertEquals(await call(open({ store: other })), 200);
      servers.revoke();
      // There was another session, which has ended since.
      assertEquals([await call(api), pages()], [200, 3]);
    },
  ],
  [
    PROMPTS,
    "The library remembers it in memory, per store object, so a new process prompts again.",
    async ({ open, call, pages, closeTab }) => {
      const [store, other] = processes(2);
      await closeTab(open({ store }));
      assertEquals(await call(open({ store })), "sign_in_required");
      assertEquals([await call(open({ store: other })), pages()], [200, 2]);
    },
  ],
  [
    PROMPTS,
    "The following don't suppress the next prompt: - failures before the user saw anything - a popup that was closed or blocked: the next click prompts again - the Back button, which returns the user to the page that `createRedirectReceiver` left - errors that your own `visit` throws, except an `AbortError`",
    async ({ servers, open, call, pages }) => {
      const { receiver } = servers;
      const errors = [
        new OAuthClientError("popup_closed", "Closed"),
        new OAuthClientError("popup_blocked", "Blocked"),
        new OAuthClientError("redirected", "Left"),
        new TypeError("Mine"),
      ];
      for (const error of errors) {
        let asked = 0;
        const visit = () => Promise.reject((asked++, error));
        const api = open({ flow: codeFlow({ ...receiver, visit }) });
        for (const _ of [1, 2]) await call(api);
        assertEquals(asked, 2);
      }
      let asked = 0;
      const reason = new DOMException("Left", "AbortError");
      const visit = () => Promise.reject((asked++, reason));
      const leaving = open({ flow: codeFlow({ ...receiver, visit }) });
      for (const _ of [1, 2]) await call(leaving);
      assertEquals(asked, 1);
      const api = open();
      servers.failNext("registration", 503);
      assertEquals(await call(api), "temporarily_unavailable");
      servers.advance(1);
      assertEquals([await call(api), pages()], [200, 1]);
      const refused = world();
      const other = refused.open();
      for (const expected of ["invalid_scope", "sign_in_required"]) {
        const error = Response.json({ error: "invalid_scope" }, {
          status: 400,
        });
        refused.servers.failNext("token", error);
        const result = await refused.call(other);
        assertEquals([result, refused.pages()], [expected, 1]);
      }
    },
  ],
  [
    PROMPTS,
    'With `signInOn: "signIn"`, only `api.signIn()` prompts.',
    ask,
  ],
  [
    SESSIONS,
    "So ten processes open one browser, and make one refresh.",
    (world) => callAtOnce(world, 10),
  ],
  [
    SYMPTOMS,
    "Calls at the same time share one sign-in. If the user closes the tab, later calls fail with `sign_in_required`, until the program calls `api.signIn()`.",
    async () => {
      await callAtOnce(world(), 1);
      await askOnce(world());
    },
  ],
  [
    SYMPTOMS,
    "That is remembered for the store object: with a new one for each call, each call prompts.",
    async ({ open, pages, closeTab }) => {
      for (const asked of [1, 2]) {
        await closeTab(open());
        assertEquals(pages(), asked);
      }
    },
  ],
  [SYMPTOMS, "Then calls only refresh, and the button prompts:", ask],
  [
    SYMPTOMS,
    "You get the `401`, and later calls of that URL get it without a page, until the API accepts a token there or you call `api.signIn()`.",
    refuseEach,
  ],
  [
    HOST,
    "`signIn()` signs in for what the last call lacked, a scope included;",
    async ({ servers, open, call, pages }) => {
      const api = open({ signInOn: "signIn" });
      await api.signIn();
      servers.requiredScopes = ["read", "write"];
      assertEquals(await call(api), "sign_in_required");
      await api.signIn();
      assertEquals([await call(api), pages()], [200, 2]);
    },
  ],
];

testSentences(SENTENCES);
