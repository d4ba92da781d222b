/** What a session of several APIs keeps when one of them signs in, or has to sign in alone. */

import { assertEquals } from "@std/assert";
import {
  mergeSessions,
  rebased,
  separateApi,
  viewOf,
  withoutTokens,
} from "../../../lib/fetch/_shared_session.ts";
import type { Session } from "../../../mod.ts";
import { eachRow } from "../../support/each_row.ts";
import { SESSION } from "../../support/resource.ts";

const idTokenOf = (sub: string) => `e30.${btoa(JSON.stringify({ sub }))}.`;

const OTHER = "https://other.example/";
const ALONE = { isAlone: true };
const token = { access_token: "old", token_type: "Bearer" };

Deno.test("mergeSessions() keeps the tokens of other APIs, not those of another user", async () => {
  const ann = { ...token, access_token: "new", id_token: idTokenOf("ann") };
  const whole = { ...ann, refresh_token: "r" };
  const bob = { ...whole, id_token: idTokenOf("bob") };
  const rows: [Session["token"], string, Partial<Session>, boolean][] = [
    [whole, "step_up", {}, true],
    [whole, "expired", {}, false],
    [whole, "step_up", { token: bob }, false],
    [ann, "expired", {}, true],
    [ann, "fresh", {}, false],
    [ann, "expired", { issuer: "https://former.example" }, false],
    [ann, "expired", { client: { ...SESSION.client, client_id: "2" } }, false],
  ];
  await eachRow(rows, ([next, reason, former, isKept]) => {
    const apis = { [OTHER]: { scopes: [], token } };
    const before = { ...SESSION, token: whole, apis, ...former };
    const session = {
      ...SESSION,
      token: next,
      apis: { [OTHER]: { scopes: [] } },
    };
    const result = mergeSessions(session, before, { reason, mayRefresh: true });
    assertEquals(result.apis?.[OTHER]?.token, isKept ? token : undefined);
  });
});

Deno.test("mergeSessions() compares the user with those of all ID tokens of the former session", async () => {
  const mine = { ...token, access_token: "new", id_token: idTokenOf("ann") };
  const unknown = { ...token, access_token: "new" };
  const rows: [Session["token"], string | undefined, string, boolean][] = [
    [mine, "ann", "expired", true],
    [mine, "bob", "expired", false],
    [mine, undefined, "expired", true],
    [unknown, "bob", "expired", true],
    [mine, "ann", "fresh", true],
    [mine, undefined, "fresh", false],
    [unknown, "ann", "fresh", false],
  ];
  await eachRow(rows, ([next, sub, reason, isKept]) => {
    const theirs = { ...token, ...(sub && { id_token: idTokenOf(sub) }) };
    const other = { scopes: [], token: theirs, internal: ALONE };
    const before = { ...SESSION, token, apis: { [OTHER]: other } };
    const session = { ...SESSION, token: next, internal: ALONE };
    const own = { ...session, apis: {} };
    const result = mergeSessions(own, before, { reason, mayRefresh: false });
    assertEquals(result.apis?.[OTHER]?.token, isKept ? theirs : undefined);
  });
});

Deno.test("separateApi() leaves the ID token to another API, and no refresh token", () => {
  const id_token = idTokenOf("ann");
  const own = { ...token, access_token: "", refresh_token: "r", id_token };
  const apis = { [OTHER]: { scopes: ["a"], token } };
  const session = separateApi({ ...SESSION, token: own, apis });
  assertEquals(session.token, undefined);
  assertEquals(viewOf(session, OTHER).token, { ...token, id_token });
});

Deno.test("viewOf() gives the API in front what belongs to the sign-in, and leaves the other its own", () => {
  const shared = {
    ...{ refresh_token: "r", refresh_expires_at: 2, id_token: "e30.e30." },
  };
  const own = { access_token: "one", token_type: "Bearer", expires_at: 1 };
  const session: Session = {
    ...{ ...SESSION, token: { ...own, ...shared } },
    apis: { [OTHER]: { scopes: [], token } },
  };
  const view = viewOf(session, OTHER);
  assertEquals(view.token, { ...token, ...shared });
  assertEquals(view.apis?.[SESSION.resource]?.token, own);
  assertEquals(viewOf(view, SESSION.resource).token, { ...own, ...shared });
});

const THIRD = "https://third.example/";

Deno.test("viewOf() keeps the APIs that are not in front", () => {
  const apis = {
    [OTHER]: { scopes: [], token },
    [THIRD]: { scopes: ["three"], token },
  };
  const view = viewOf({ ...SESSION, apis }, OTHER);
  assertEquals(Object.keys(view.apis ?? {}), [THIRD, SESSION.resource]);
  assertEquals(view.apis?.[THIRD], apis[THIRD]);
});

Deno.test("viewOf() gives the API of the longest URL what is below another one", () => {
  const outer = "https://one.example/v1";
  const inner = `${outer}/tenant`;
  const all = [outer, inner];
  for (const [index, resource] of all.entries()) {
    const apis = { [all[1 - index]!]: { scopes: [], token } };
    const session = { ...SESSION, resource, apis };
    for (const url of all) assertEquals(viewOf(session, url).resource, url);
    assertEquals(viewOf(session, `${inner}/x`).resource, inner);
    assertEquals(viewOf(session, `${outer}/x`).resource, outer);
  }
});

Deno.test("rebased() prefers what was stored for another API meanwhile", async () => {
  const api = (name?: string) => ({
    scopes: [],
    ...(name && { token: { ...token, access_token: name } }),
  });
  type Row = Record<"loaded" | "next" | "stored" | "expected", string>;
  const rows: Row[] = [
    { loaded: "1", next: "1", stored: "1", expected: "1" },
    { loaded: "1", next: "1", stored: "2", expected: "2" },
    { loaded: "1", next: "", stored: "1", expected: "" },
    { loaded: "1", next: "", stored: "2", expected: "2" },
    { loaded: "1", next: "1", stored: "", expected: "" },
  ];
  await eachRow(rows, ({ loaded, next, stored, expected }) => {
    const sessionOf = (name: string) => ({
      ...SESSION,
      apis: { [OTHER]: api(name) },
    });
    const own = { ...sessionOf(next), token };
    assertEquals(rebased(own, sessionOf(loaded), sessionOf(stored)), {
      ...own,
      apis: { [OTHER]: api(expected) },
    });
  });
  assertEquals(rebased(undefined, SESSION, SESSION), undefined);
});

Deno.test("withoutTokens() takes the tokens of the sign-in, and of no API that signed in alone", () => {
  const apis = {
    [OTHER]: { scopes: ["two"], token },
    [THIRD]: { scopes: ["three"], token, internal: ALONE },
  };
  const session = withoutTokens({ ...SESSION, apis });
  assertEquals(session.token, undefined);
  assertEquals(session.apis, { ...apis, [OTHER]: { scopes: ["two"] } });
  const { token: _, ...rest } = SESSION;
  const own = { ...SESSION, internal: ALONE, apis };
  assertEquals(withoutTokens(own), { ...rest, internal: ALONE, apis });
  assertEquals(withoutTokens(SESSION), rest);
});

Deno.test("rebased() puts an API with an access token of the same sign-in in front", () => {
  const own = { ...token, access_token: "", refresh_token: "r" };
  const apis = {
    [THIRD]: { scopes: [], token, internal: ALONE },
    [OTHER]: { scopes: [], token },
  };
  const session = { ...SESSION, token: own, apis };
  const stored = rebased(session, session, session);
  assertEquals(stored?.resource, OTHER);
  assertEquals(stored?.token, { ...token, refresh_token: "r" });
});

Deno.test("separateApi() moves an ID token only if there is one, and an API that has a token", async () => {
  const id_token = idTokenOf("ann");
  const rows: [Session["token"], NonNullable<Session["apis"]>][] = [
    [token, { [OTHER]: { scopes: [], token } }],
    [{ ...token, id_token }, { [OTHER]: { scopes: [] } }],
    [{ ...token, id_token }, {}],
  ];
  await eachRow(rows, ([own, apis]) => {
    assertEquals(separateApi({ ...SESSION, token: own, apis }).apis, apis);
  });
});
