/** How a body that can be sent once only is sent, which costs memory in Node. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { OAuthClientError } from "../../../mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { replaceGlobals } from "../../support/globals.ts";
import { MCP } from "../../support/fixtures.ts";
import { resourceFetch } from "../../support/resource.ts";

const NODE = { versions: { node: "24.0.0", undici: "7.0.0" } };
/** Deno, Bun and Workers imitate Node. */
const IMITATION = { versions: { node: "24.0.0" } };

async function* chunks() {
  yield await Promise.resolve(new TextEncoder().encode("body"));
}

const streamed = (redirect: RequestInit["redirect"] = "follow") =>
  ({
    method: "POST",
    body: new Blob(["body"]).stream(),
    duplex: "half",
    redirect,
  }) as RequestInit;

Deno.test("createAuthorizedFetch() has Node keep no copy of a stream", async () => {
  const rows: [
    process: unknown,
    init: RequestInit,
    sent: RequestInit["redirect"],
  ][] = [
    [NODE, streamed(), "error"],
    [NODE, streamed("manual"), "error"],
    [NODE, streamed("error"), "error"],
    [
      NODE,
      { ...streamed(), body: chunks() as unknown as BodyInit },
      "error",
    ],
    [NODE, { method: "POST", body: "body" }, "manual"],
    [NODE, { method: "POST", body: new Uint8Array(9) }, "manual"],
    [NODE, {}, "manual"],
    // A Worker rejects "error".
    [IMITATION, streamed(), "manual"],
    [undefined, streamed(), "manual"],
  ];
  await eachRowInTurn(rows, async ([process, init, sent]) => {
    let redirect: unknown;
    const { api } = resourceFetch(undefined, {
      fetch(_, init) {
        redirect = init?.redirect;
        return Promise.resolve(new Response());
      },
    });
    using _ = replaceGlobals({ process });
    assertEquals((await api(MCP, init)).status, 200);
    assertEquals(redirect, sent);
  });
});

Deno.test("createAuthorizedFetch() explains that Node did not redirect a stream", async () => {
  const cause = new Error("unexpected redirect");
  const failed = new TypeError("fetch failed", { cause });
  const { api } = resourceFetch(undefined, {
    fetch: () => Promise.reject(failed),
  });
  const error = await assertRejects(
    () => api(MCP, streamed("manual")),
    OAuthClientError,
    "its body is a stream",
  );
  assertEquals([error.code, error.url, error.cause], [
    "redirect_refused",
    MCP,
    failed,
  ]);
  // The caller's own wish, and other failures, are the caller's.
  for (const one of [{ redirect: "error" } as const, {}]) {
    assert(await api(MCP, one).catch((error) => error) === failed);
  }
});
