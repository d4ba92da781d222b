/** The excerpts of findings: the part of a response that shows each. */

import { assert, assertEquals } from "@std/assert";
import { diagnose } from "../../lib/doctor/mod.ts";
import { type IModel, served, SERVER_PATH, startWorld } from "./_world.ts";
import { TABLE } from "./_table.ts";

const ROWS: readonly {
  id: string;
  excerpt: string;
  change: (model: IModel) => void;
}[] = [
  {
    id: "issuer_mismatch",
    excerpt: '{\n  "issuer": "https://other.example"\n}',
    change: ({ serverMetadata }) =>
      void (serverMetadata.issuer = "https://other.example"),
  },
  {
    id: "pkce_not_listed",
    excerpt: '"code_challenge_methods_supported" is absent',
    change: ({ serverMetadata }) =>
      void delete serverMetadata.code_challenge_methods_supported,
  },
  {
    id: "empty_lists",
    excerpt: '{\n  "scopes_supported": []\n}',
    change: ({ serverMetadata }) => void (serverMetadata.scopes_supported = []),
  },
  {
    id: "null_members",
    excerpt: '{\n  "jwks_uri": null\n}',
    change: ({ serverMetadata }) => void (serverMetadata.jwks_uri = null),
  },
  {
    id: "odd_scopes",
    excerpt:
      '{\n  "scopes_supported": [\n    "offline_access",\n    "s0",\n    "s1",\n' +
      '    "s2",\n    "s3",\n    "s4",\n    "s5",\n    "s6",\n' +
      '    "… 5 more"\n  ]\n}',
    change: ({ resourceMetadata }) =>
      void (resourceMetadata.scopes_supported = [
        "offline_access",
        ...Array.from({ length: 12 }, (_, index) => `s${index}`),
      ]),
  },
  {
    id: "challenge_other_scheme",
    excerpt: "HTTP status 401\ncontent-type: text/plain;charset=UTF-8\n" +
      'www-authenticate: Basic realm="api"',
    change: ({ resource }) => {
      resource.headers["WWW-Authenticate"] = 'Basic realm="api"';
    },
  },
  {
    id: "html_instead_of_json",
    excerpt: "HTTP status 200\ncontent-type: text/html\n\n<!doctype html>",
    change: ({ documents }) =>
      void (documents[SERVER_PATH] = served("<!doctype html>", {
        headers: { "Content-Type": "text/html" },
      })),
  },
];

for (const { id, excerpt, change } of ROWS) {
  Deno.test(`diagnose() shows in an excerpt what leads to ${id}`, async () => {
    await using world = startWorld(change);
    const { findings, steps } = await diagnose(world.target);
    const finding = findings.find((one) => one.id === id);
    assertEquals(finding?.excerpt, excerpt);
    assertEquals(steps[finding?.step ?? -1]?.url, finding?.url);
  });
}

Deno.test("diagnose() shows an excerpt of each response that it finds fault with", async () => {
  const without = new Set<string>();
  for (const { change } of TABLE) {
    await using world = startWorld(change);
    const { findings, steps } = await diagnose(world.target);
    for (const { id, step, excerpt } of findings) {
      const { status } = steps[step ?? -1] ?? {};
      if (status !== undefined && !excerpt) without.add(id);
      assert((excerpt ?? "").length <= 701, id);
    }
  }
  assertEquals([...without], []);
});
