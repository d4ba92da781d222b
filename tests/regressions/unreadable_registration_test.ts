/** A registration response that cannot be read must say why it cannot. */

import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { fetchDynamicRegistration, OAuthClientError } from "../../mod.ts";
import { REGISTRATION_ENDPOINT, SERVER } from "../support/fixtures.ts";
import { minimal, stubFetch } from "../support/stub_fetch.ts";

Deno.test("fetchDynamicRegistration() puts the failure of json() or text() into its message", async () => {
  const cause = new Error("The reason of the reader");
  const reject = () => Promise.reject(cause);
  const resolve = <T>(value: T) => () => Promise.resolve(value);
  const rows: [status: number, readers: object, start: string][] = [
    [
      201,
      { json: reject, text: resolve("not asked") },
      "Invalid authorization dynamic client registration response: ",
    ],
    [
      400,
      { text: reject, json: resolve({ error: "not_asked" }) },
      `Registration to ${REGISTRATION_ENDPOINT} failed: `,
    ],
  ];
  for (const [status, readers, start] of rows) {
    using stubbed = stubFetch({
      [REGISTRATION_ENDPOINT]: () =>
        minimal({ status, ok: status === 201, ...readers }),
    });
    const error = await assertRejects(
      () => fetchDynamicRegistration(SERVER, "My client", undefined, stubbed),
      OAuthClientError,
    );
    assertEquals(error.message, start + cause.message);
    assertStrictEquals(error.cause, cause);
  }
});
