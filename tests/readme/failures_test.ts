/** The sentences of README.md and the pages about what fails, and what happens then. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type AdviceAction,
  adviceFor,
  type AuthorizedFetchEvent,
  codeFlow,
  discoverAuthorization,
  isOAuthClientError,
  memoryStore,
  OAuthClientError,
  type OAuthClientErrorCode,
  type OAuthClientErrorRequest,
} from "../../mod.ts";
import { diagnose } from "../../lib/doctor/mod.ts";
import { pageAt, rowsOf, sectionOf, tablesOf } from "../support/markdown.ts";
import { LIMIT_MS, until } from "../support/within.ts";
import { offeredSettings } from "./offered_settings.ts";
import { type Sentence, testSentences, world } from "./world.ts";

const README = "README.md";
const ERRORS = ".github/docs/errors.md";
const SESSIONS = ".github/docs/sessions.md";
const PROMPTS = ".github/docs/prompts.md";
const SYMPTOMS = ".github/docs/symptoms.md";
const SECURITY = ".github/docs/security.md";
const COMMAND = ".github/docs/command.md";

const ACTIONS: Record<AdviceAction, true> = {
  retry: true,
  reauthorize: true,
  reregister: true,
  ask_user: true,
  give_up: true,
};

Deno.test("errors.md has the five actions of adviceFor", () => {
  const section = sectionOf(pageAt("errors.md"), "## What to do: five actions");
  const actions = rowsOf(section).map(([action]) => action);
  assertEquals(actions, Object.keys(ACTIONS));
});

Deno.test("errors.md has the advice that adviceFor returns for each error and code", () => {
  const page = pageAt("errors.md");
  const section = sectionOf(page, "## The advice for each failure");
  const found: string[] = [];
  const expected: string[] = [];
  for (const row of tablesOf(section)["`request`"] ?? []) {
    const [request = "", failure = "", action = ""] = row.split(" | ");
    const kind = /^`(error|code)` is (?:`\w+`(?:, )?)+(?: \(GitHub\))?$/.exec(
      failure,
    )?.[1];
    const names = failure.match(/(?<=`)\w+(?=`)/g) ?? [];
    for (const name of kind ? names.slice(1) : []) {
      const details = {
        request: (request.slice(1, -1) || undefined) as OAuthClientErrorRequest,
        error: kind === "error" ? name : undefined,
      };
      const code = kind === "code"
        ? name as OAuthClientErrorCode
        : "oauth_error";
      const error = new OAuthClientError(code, "Failed", details);
      expected.push(`${request} ${name}: ${action}`);
      found.push(`${request} ${name}: \`${adviceFor(error).action}\``);
    }
  }
  assertEquals(found, expected);
  assertEquals(found.length, 37);
  const source = new URL("../../lib/core/advice.ts", import.meta.url);
  const code = Deno.readTextFileSync(source).replace(/^ \*.*$/gm, "");
  for (const name of code.match(/(?<=")[a-z]+_[a-z_]+(?=")/g) ?? []) {
    assert(section.includes(`\`${name}\``), name);
  }
});

Deno.test("errors.md contains tests/readme/offered_settings.ts, which offers settings for hints", async () => {
  const code = Deno.readTextFileSync(
    new URL("offered_settings.ts", import.meta.url),
  );
  assert(pageAt("errors.md").includes(`\`\`\`ts\n${code}\`\`\`\n`));
  const discover = (url: string) =>
    discoverAuthorization(url).catch((error: unknown) => error);
  const error = await discover("http://api.example/mcp");
  assertEquals(offeredSettings(error), ["Allow http for this server"]);
  assertEquals(offeredSettings(new Error("allowHttp")), []);
});

const SENTENCES: Sentence[] = [
  [
    ERRORS,
    "**Your request to the API fails**: what `fetch` throws, usually a `TypeError`.",
    async ({ servers, open }) => {
      const api = open();
      await api(servers.resource);
      servers.failNext("resource", "lose_request");
      const error = await assertRejects(() => api(servers.resource), TypeError);
      assert(!isOAuthClientError(error));
      assertEquals(adviceFor(error), { action: "give_up" });
    },
  ],
  [
    ERRORS,
    "**Your signal aborts**: the signal's reason, usually an `AbortError`.",
    async ({ servers, open }) => {
      const aborted = AbortSignal.abort();
      const { reason } = aborted;
      const error = await open()(servers.resource, { signal: aborted })
        .catch((error) => error);
      assertEquals([error, error.name], [reason, "AbortError"]);
    },
  ],
  [
    ERRORS,
    "Calls that wait for a sign-in reject with one as well when `api.revoke()` is called.",
    async ({ servers, open, pages }) => {
      const api = open();
      servers.user = "leaves";
      const waiting = api(servers.resource).catch(({ name }) => name);
      await until(LIMIT_MS, () => pages() === 1);
      await api.revoke();
      assertEquals(await waiting, "AbortError");
    },
  ],
  [
    ERRORS,
    "**Your own code throws**: a store, `visit`, `show`, `getAssertion`.",
    async ({ servers, open }) => {
      const mine = new RangeError("Mine");
      const fail = () => Promise.reject(mine);
      const { receiver } = servers;
      const authorize = codeFlow({ ...receiver, visit: fail });
      const store = { ...memoryStore(), load: fail };
      for (const options of [{ flow: authorize }, { store }]) {
        const error = await open(options)(servers.resource)
          .catch((error) => error);
        assertEquals(error, mine);
      }
    },
  ],
  [
    README,
    "`adviceFor(error)` sorts any error into five actions:",
    () => {
      const errors: Record<AdviceAction, unknown> = {
        retry: new OAuthClientError("network_error", "Offline"),
        reauthorize: new OAuthClientError("expired", "Too late"),
        reregister: new OAuthClientError("oauth_error", "Unknown", {
          error: "invalid_client",
        }),
        ask_user: new OAuthClientError("popup_closed", "Closed"),
        give_up: new TypeError("Mine"),
      };
      const actions = Object.values(errors)
        .map((error) => adviceFor(error).action);
      assertEquals(actions, Object.keys(ACTIONS) as AdviceAction[]);
      return Promise.resolve();
    },
  ],
  [
    PROMPTS,
    "A fetch without `flow` never prompts. It refreshes the session that it finds in the store; otherwise, it returns the `401`. If a refresh fails and the advice is `retry`, the call rejects, just as it does with `flow`.",
    async ({ servers, open, call, pages, refreshes }) => {
      const store = memoryStore();
      const api = open({ store, flow: undefined });
      assertEquals(await call(api), 401);
      await open({ store }).signIn();
      servers.advance(3600);
      assertEquals([await call(api), pages(), refreshes()], [200, 1, 1]);
      servers.advance(3600);
      servers.failNext("token", 503);
      assertEquals(await call(api), "temporarily_unavailable");
      servers.advance(1);
      assertEquals(await call(api), 200);
      servers.revoke();
      assertEquals([await call(api), pages()], [401, 1]);
    },
  ],
  [
    SESSIONS,
    "Calls that wait for a sign-in reject with an `AbortError`, and calls under way return their `401` instead of prompting the user who has just signed out.",
    async ({ servers, open, call, pages }) => {
      const api = open();
      servers.user = "leaves";
      const waiting = api(servers.resource).catch(({ name }) => name);
      await until(LIMIT_MS, () => pages() === 1);
      await api.revoke();
      assertEquals(await waiting, "AbortError");
      servers.user = "consents";
      await api.signIn();
      servers.intercept = async ({ endpoint }) => {
        if (endpoint === "resource") await api.revoke();
        return undefined;
      };
      assertEquals([await call(api), pages()], [401, 2]);
    },
  ],
  [
    SESSIONS,
    "`api.signIn({ fresh: true })` starts a sign-in even if there's a session. The old session stays in use until the new one replaces it.",
    async ({ servers, open, pages }) => {
      const prompts = () =>
        servers.received("authorization").map(({ params }) =>
          params.get("prompt")
        );
      const store = memoryStore();
      await open({ store }).signIn();
      await open({ store }).signIn({ fresh: true });
      const parameters = { prompt: "select_account" };
      const authorize = codeFlow({ ...servers.receiver, parameters });
      const api = open({ store, flow: authorize });
      servers.user = "refuses";
      await assertRejects(() => api.signIn({ fresh: true }));
      assert(await api.session());
      assertEquals([prompts().slice(1), pages()], [
        [null, "select_account"],
        3,
      ]);
    },
  ],
  [
    SYMPTOMS,
    "Event: `session_dropped` with `invalid_grant`, then `sign_in_started` with `refresh_failed`.",
    async ({ servers, open, call }) => {
      const events: AuthorizedFetchEvent[] = [];
      const api = open({ onEvent: (event) => events.push(event) });
      await call(api);
      servers.advance(3600);
      servers.revoke();
      events.length = 0;
      await call(api);
      const seen = events.flatMap((event) =>
        event.type === "session_dropped"
          ? [event.code]
          : event.type === "sign_in_started"
          ? [event.reason]
          : []
      );
      assertEquals(seen, ["invalid_grant", "refresh_failed"]);
    },
  ],
  [
    SESSIONS,
    "A session of another API, another server or another DPoP key isn't used, and the next sign-in replaces it.",
    async ({ open, call, pages }) => {
      const store = memoryStore();
      const { servers, ...other } = world();
      const elsewhere = "https://api.elsewhere.example/mcp";
      const session = await open().signIn();
      await store.save({ ...session, resource: elsewhere });
      const api = open({ store });
      assertEquals(await api.session(), undefined);
      assertEquals([await call(api), pages()], [200, 2]);
      assertEquals((await api.session())?.resource, session.resource);
      assertEquals([servers.resource, other.pages()], [session.resource, 0]);
    },
  ],
  [
    SECURITY,
    "**What you switch off is off:** `allowHttp`, `assumePkce`, `trustedIssuers`, `alsoFor`, and `bind` of the loopback receiver. Search for these five in a review.",
    () => {
      const options = pageAt("options.md");
      const names = rowsOf(options).map(([name]) => name);
      for (
        const name of ["allowHttp", "assumePkce", "trustedIssuers", "alsoFor"]
      ) {
        assert(names.includes(name), name);
      }
      const receiver = Deno.readTextFileSync(
        new URL(
          "../../lib/native/loopback_receiver_options.ts",
          import.meta.url,
        ),
      );
      assert(receiver.includes("\n  bind?: string"));
      return Promise.resolve();
    },
  ],
  [
    COMMAND,
    "The field of `--header` goes with `GET` requests to the origin of URL only: not to other hosts, and not with the `POST` of a ping.",
    async () => {
      const target = "https://api.example/mcp";
      const metadata = "/.well-known/oauth-protected-resource/mcp";
      const seen: [request: string, field: string | null][] = [];
      await diagnose(target, {
        headers: { "X-Key": "of-the-gateway" },
        fetch: (url, { method, headers }) => {
          const field = new Headers(headers).get("X-Key");
          seen.push([`${method} ${url}`, field]);
          const { origin, pathname } = new URL(url);
          return Promise.resolve(
            pathname === metadata
              ? Response.json({
                resource: target,
                authorization_servers: ["https://as.example"],
              })
              : new Response(null, {
                status: origin === "https://as.example" ? 404 : 405,
              }),
          );
        },
      });
      for (const [request, field] of seen) {
        const isSent = request.startsWith("GET https://api.example/");
        assertEquals(field, isSent ? "of-the-gateway" : null, request);
      }
      const requests = seen.map(([request]) => request.split("/.well")[0]);
      for (const one of [`GET ${target}`, `POST ${target}`]) {
        assert(requests.includes(one), one);
      }
      assert(requests.includes("GET https://as.example"));
    },
  ],
];

testSentences(SENTENCES);
