/** Receivers of one port share a listener until the last of them has ended. */

import { assertEquals, assertRejects } from "@std/assert";
import { createLoopbackReceiver } from "../../../lib/native/mod.ts";
import { AS } from "../../support/fixtures.ts";
import { LIMIT_MS, within } from "../../support/within.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

const ignore = () => {};

/** Receivers with one port, of which the first has chosen it. */
async function receivers(...paths: string[]) {
  const options = { open: false, print: ignore } as const;
  const first = createLoopbackReceiver({ ...options, port: 0, path: paths[0] });
  const firstUri = await first.redirectUri();
  const port = Number(new URL(firstUri).port);
  const others = paths.slice(1).map((path, index) =>
    createLoopbackReceiver({ ...options, port, path, title: `R${index + 2}` })
  );
  // All at once, as at the start of a program.
  const uris = await Promise.all(others.map((one) => one.redirectUri()));
  return [first, ...others].map((receiver, index) => {
    const redirectUri = [firstUri, ...uris][index]!;
    const visit = (state: string) =>
      within(
        LIMIT_MS,
        receiver.visit(new URL(AS), { pending: { state, redirectUri } }),
      );
    return { redirectUri, visit };
  });
}

/** Sends a response; returns its status and the heading of the page. */
async function respond(uri: string, query: string) {
  const response = await fetch(`${uri}?${query}`);
  const text = await response.text();
  return [response.status, /<h1>(.*)<\/h1>/.exec(text)?.[1]];
}

Deno.test("createLoopbackReceiver() shares the listener of a port, by state", async () => {
  const [a, b, c] = await receivers("/callback", "/callback", "/c");
  assertEquals(a!.redirectUri, b!.redirectUri);
  const visits = [a!.visit("a"), b!.visit("b"), c!.visit("c")];
  assertEquals(await respond(b!.redirectUri, "code=2&state=b"), [200, "R2"]);
  assertEquals((await visits[1]!).search, "?code=2&state=b");
  // Of no receiver, of one that has ended, and at the path of another receiver.
  const rows = [
    [a!.redirectUri, "foreign"],
    [a!.redirectUri, "b"],
    [a!.redirectUri, "c"],
    [c!.redirectUri, "a"],
  ];
  await eachRowInTurn(rows, async ([uri, state]) => {
    assertEquals((await respond(uri!, `code=1&state=${state}`))[0], 404);
  });
  assertEquals((await respond(c!.redirectUri, "code=3&state=c"))[0], 200);
  assertEquals((await visits[2]!).href, `${c!.redirectUri}?code=3&state=c`);
  // The listener of the first receiver goes on.
  assertEquals((await respond(a!.redirectUri, "code=1&state=a"))[0], 200);
  assertEquals((await visits[0]!).search, "?code=1&state=a");
  await assertRejects(() => fetch(a!.redirectUri));
});

Deno.test("createLoopbackReceiver() listens on until the last receiver of a port has ended", async () => {
  const [a, b] = await receivers("/callback", "/callback");
  const first = a!.visit("a");
  await respond(a!.redirectUri, "code=1&state=a");
  await first;
  const second = b!.visit("b");
  assertEquals((await respond(b!.redirectUri, "code=2&state=b"))[0], 200);
  await second;
  await assertRejects(() => fetch(b!.redirectUri));
});
