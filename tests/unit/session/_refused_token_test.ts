/** What is kept of the responses to tokens. */
import { assertEquals } from "@std/assert";
import { TokenResponses } from "../../../lib/session/_refused_token.ts";
import { MCP } from "../../support/fixtures.ts";

const at = (n: number | string) => new URL(`${MCP}/${n}?query`);
const refusal = new Response(null, { status: 401 });

Deno.test("TokenResponses keeps 100 URLs, and those that refuse each token among them", () => {
  const responses = new TokenResponses();
  responses.noteSignIn("t1");
  responses.note("t1", at("admin"), refusal, true);
  responses.note("t1", at("open"), new Response(), false);
  for (let n = 0; n < 1000; n++) {
    responses.note("t1", at(n), new Response(), false);
  }
  assertEquals(responses.isFinal(at("admin")), true);
  const kept = Array.from({ length: 1000 }, (_, n) => n)
    .filter((n) => responses.mayAsk(at(n)));
  assertEquals([kept.length, kept[0]], [99, 901]);
});

Deno.test("TokenResponses does not count a challenge for another authentication as a refusal", () => {
  const responses = new TokenResponses();
  const challenge = 'Bearer error="insufficient_user_authentication"';
  const headers = { "WWW-Authenticate": challenge };
  responses.noteSignIn("t1");
  responses.note(
    "t1",
    at(1),
    new Response(null, { status: 401, headers }),
    true,
  );
  assertEquals([responses.isFinal(at(1)), responses.hasRefused("t1")], [
    false,
    false,
  ]);
});

Deno.test("TokenResponses counts the token of a sign-in as lost, not as refused, after a response such as 404", () => {
  for (const [status, isLost] of [[404, true], [304, true], [502, false]]) {
    const responses = new TokenResponses();
    const response = new Response(null, { status: Number(status) });
    responses.noteSignIn("t1");
    responses.note("t1", at(1), response, true);
    responses.note("t1", at(1), refusal, false);
    assertEquals(responses.mayAsk(at(1)), isLost);
  }
});
