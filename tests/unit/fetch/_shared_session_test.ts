/** What a session of several APIs keeps when one of them signs in, or has to sign in alone. */

import { assertEquals } from "@std/assert";
import { alone, merged, viewOf } from "../../../lib/fetch/_shared_session.ts";
import type { ISession } from "../../../mod.ts";
import { eachRow } from "../../support/each_row.ts";
import { SESSION } from "../../support/resource.ts";

/** An ID token of a user. */
const idTokenOf = (sub: string) => `e30.${btoa(JSON.stringify({ sub }))}.`;

const OTHER = "https://other.example/";
const token = { access_token: "old", token_type: "Bearer" };

Deno.test("merged() keeps the tokens of other APIs, not those of another user", async () => {
  const ann = { ...token, access_token: "new", id_token: idTokenOf("ann") };
  const whole = { ...ann, refresh_token: "r" };
  const bob = { ...whole, id_token: idTokenOf("bob") };
  const rows: [ISession["token"], string, Partial<ISession>, boolean][] = [
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
    const result = merged(session, before, { reason, mayRefresh: true });
    assertEquals(result.apis?.[OTHER]?.token, isKept ? token : undefined);
  });
});

Deno.test("alone() leaves the ID token to another API, and no refresh token", () => {
  const id_token = idTokenOf("ann");
  const own = { ...token, access_token: "", refresh_token: "r", id_token };
  const apis = { [OTHER]: { scopes: ["a"], token } };
  const session = alone({ ...SESSION, token: own, apis });
  assertEquals(session.token, { access_token: "", token_type: "Bearer" });
  assertEquals(viewOf(session, OTHER).token, { ...token, id_token });
});
