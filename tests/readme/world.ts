/** What the tests of the pages' sentences share: servers, and the check that a page says it. */
import { assert, assertEquals } from "@std/assert";
import {
  type AuthorizedFetch,
  type AuthorizedFetchOptions,
  codeFlow,
  createAuthorizedFetch,
  isOAuthClientError,
  memoryStore,
  type SessionStore,
} from "../../mod.ts";
import { createTestServers } from "../../lib/testing/mod.ts";
import { LIMIT_MS, until } from "../support/within.ts";

/** Fetches at servers for tests, and what their users and servers have seen. */
export function world() {
  const servers = createTestServers();
  const { resource, fetch, now, receiver } = servers;
  const open = (options: Partial<AuthorizedFetchOptions> = {}) => {
    const authorize = codeFlow(receiver);
    return createAuthorizedFetch(resource, {
      ...{ fetch, now, flow: authorize },
      ...options,
    });
  };
  const pages = () => servers.received("authorization").length;
  const call = (api: AuthorizedFetch, path = "") =>
    api(resource + path).then(
      ({ status }) => status,
      (error) => isOAuthClientError(error) ? error.error ?? error.code : error,
    );
  return {
    ...{ servers, open, pages, call },
    refreshes: () => servers.received("token", "refresh_token").length,
    async closeTab(api: AuthorizedFetch) {
      const before = pages();
      servers.user = "leaves";
      const result = call(api);
      await until(LIMIT_MS, () => pages() > before);
      servers.advance(300);
      assertEquals(await result, "timeout");
      servers.user = "consents";
    },
    /** Makes the API refuse the tokens of calls whose URL ends like this. */
    refuse(path: string, status = 401, challenge = () => "Bearer") {
      servers.intercept = ({ endpoint, url }) =>
        endpoint === "resource" && url.href.endsWith(path)
          ? new Response(null, {
            status,
            headers: { "WWW-Authenticate": challenge() },
          })
          : undefined;
    },
  };
}

export type World = ReturnType<typeof world>;

/** The stores of so many processes, with one session and one lock. */
export function processes(count: number): SessionStore[] {
  const { load, save } = memoryStore();
  let last: Promise<unknown> = Promise.resolve();
  const lock: NonNullable<SessionStore["lock"]> = (task) => {
    const result = last.then(task);
    last = result.catch(() => {});
    return result;
  };
  return Array.from({ length: count }, () => ({ load, save, lock }));
}

export type Sentence = [
  page: string,
  sentence: string,
  play: (world: World) => Promise<void>,
];

export function testSentences(sentences: readonly Sentence[]): void {
  for (const [page, sentence, play] of sentences) {
    Deno.test(`${page} says: ${sentence}`, async () => {
      const url = new URL(`../../${page}`, import.meta.url);
      const text = Deno.readTextFileSync(url).replace(/\s+/g, " ");
      assert(text.includes(sentence), `${page} no longer says: ${sentence}`);
      await play(world());
    });
  }
}
