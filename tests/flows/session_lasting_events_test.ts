/** The events about sessions that do not last: no refresh token, or not saved. */
import { assert, assertEquals, assertFalse } from "@std/assert";
import {
  type AuthorizedFetchEvent,
  codeFlow,
  createAuthorizedFetch,
  memoryStore,
  OAuthClientError,
} from "../../mod.ts";
import {
  createTestServers,
  type TestServersOptions,
} from "../../lib/testing/mod.ts";
import { eachRowInTurn } from "../support/each_row.ts";
import { pinMessage } from "../support/pin_message.ts";
import { skipSaveWaits } from "../support/timers.ts";

const OFFLINE = { scopes_supported: ["read", "offline_access"] };

function world(options: TestServersOptions = {}) {
  const servers = createTestServers(options);
  const { fetch, now, receiver, resource } = servers;
  const events: AuthorizedFetchEvent[] = [];
  const store = memoryStore();
  const api = createAuthorizedFetch(resource, {
    ...{ fetch, now, store, flow: codeFlow(receiver) },
    onEvent: (event) => void events.push(event),
  });
  const call = async () => (await api(resource)).status;
  const take = <Type extends AuthorizedFetchEvent["type"]>(type: Type) =>
    events.splice(0).filter((event) => event.type === type);
  return { servers, store, call, take };
}

Deno.test("createAuthorizedFetch() reports a sign-in that brings no refresh token, although one was requested", async () => {
  const rows: [options: TestServersOptions, isMissing: boolean][] = [
    [{ refreshTokens: false, serverMetadata: OFFLINE }, true],
    [{ serverMetadata: OFFLINE }, false],
    // Nothing says that the server has refresh tokens.
    [{ refreshTokens: false }, false],
  ];
  await eachRowInTurn(rows, async ([options, isMissing]) => {
    const { servers, call, take } = world(options);
    assertEquals(await call(), 200);
    const events = take("refresh_token_missing");
    assertEquals(events.length, isMissing ? 1 : 0);
    for (const event of events) {
      assert(event.type === "refresh_token_missing");
      assertEquals(event.issuer, servers.issuer);
      pinMessage(event.message);
    }
  });
});

const coded = (members: object, message = "down") =>
  Object.assign(new Error(message), members);
const CODES: [error: unknown, code: string][] = [
  [coded({ code: "ENOSPC" }), "ENOSPC"],
  [coded({ code: "57P01" }), "57P01"],
  [new OAuthClientError("timeout", "too late"), "timeout"],
  [
    coded({}, "OOM command not allowed when used memory > 'maxmemory'."),
    "Error",
  ],
  [new DOMException("full", "QuotaExceededError"), "QuotaExceededError"],
  [new TypeError("Failed to fetch"), "TypeError"],
  ["down", "error"],
  [undefined, "error"],
];

Deno.test("createAuthorizedFetch() reports the code of a store that cannot save a session, once for each session", async () => {
  using _waits = skipSaveWaits();
  await eachRowInTurn(CODES, async ([error, code]) => {
    const { servers, store, call, take } = world();
    store.save = () => Promise.reject(error);
    const expected = { type: "save_failed", issuer: servers.issuer, code };
    assertEquals(await call(), 200);
    assertEquals(take("save_failed") as unknown[], [expected]);
    assertEquals(await call(), 200);
    assertEquals(take("save_failed"), []);
    // A refresh.
    servers.advance(3_600);
    assertEquals(await call(), 200);
    assertEquals(take("save_failed") as unknown[], [expected]);
  });
});

Deno.test("createAuthorizedFetch() reports nothing of what a store repeats that it could not save", async () => {
  using _waits = skipSaveWaits();
  const { servers, store, call, take } = world();
  const values: string[] = [];
  store.save = (session) => {
    const { token, client } = session!;
    const { access_token, refresh_token = "" } = token!;
    values.push(access_token, refresh_token, client!.client_secret ?? "");
    return Promise.reject(new Error(JSON.stringify(session)));
  };
  await call();
  servers.advance(3_600);
  await call();
  const reported = JSON.stringify(take("save_failed"));
  assert(reported.includes('"Error"'));
  for (const value of values.filter((value) => value !== "")) {
    assertFalse(reported.includes(value));
  }
});
