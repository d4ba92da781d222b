/** What both receivers of pages have in common. */

import { assertEquals } from "@std/assert";
import {
  createPopupReceiver,
  createRedirectReceiver,
} from "../../../lib/browser/mod.ts";
import { assertThrowsCode } from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { codeOf, fakeWindow } from "./_fake_window.ts";
import { eachRow } from "../../support/each_row.ts";

const redirectUri = "https://app.example/callback";
const pending = { state: "s1" };

const RECEIVERS = [
  {
    create: createPopupReceiver,
    refused: [{ features: "" }, { timeoutMs: 0 }],
  },
  { create: createRedirectReceiver, refused: [{ storage: 1 }] },
];

for (const { create, refused } of RECEIVERS) {
  Deno.test(`${create.name}() refuses options that are not valid`, () => {
    using _page = fakeWindow("https://app.example/notes");
    const rows = [
      undefined,
      {},
      { redirectUri: "/callback" },
      { redirectUri: "https://other.example/callback" },
      ...refused.map((option) => ({ redirectUri, ...option })),
    ];
    eachRow(rows, (options) => {
      assertThrowsCode(() => create(untyped(options)), "invalid_argument");
    });
  });

  Deno.test(`${create.name}() can be called on a server, where nobody can be visited`, async () => {
    const receiver = create({ redirectUri });
    assertEquals(receiver.redirectUri, redirectUri);
    const visit = receiver.visit(
      new URL("https://as.example/authorize"),
      untyped({ pending }),
    );
    assertEquals(await codeOf(visit), "unsupported");
  });

  Deno.test(`${create.name}() visits no URL that is not http or https`, async () => {
    using page = fakeWindow("https://app.example/notes");
    const receiver = create({ redirectUri });
    const url = new URL("javascript:alert(1)");
    const visit = receiver.visit(url, untyped({ pending }));
    assertEquals(await codeOf(visit), "url_refused");
    assertEquals([page.visited, page.popups], [[], []]);
  });
}
