/** The links of the pages and of the index of examples lead to what exists. */
import { assert, assertEquals } from "@std/assert";
import { diagnose } from "../../lib/doctor/mod.ts";
import { fragmentOf } from "../../scripts/site/.vitepress/slug.ts";

const PAGES = new URL("../../.github/docs/", import.meta.url);

function fragmentsOf(page: string): string[] {
  const code = /^```.*?^```$/gms;
  return [...page.replace(code, "").matchAll(/^#+ (.+)$/gm)]
    .map(([, title = ""]) => fragmentOf(title));
}

const read = (url: URL) => Deno.readTextFileSync(url);

const EXAMPLES = new URL("../examples/", import.meta.url);
const INDEX = new URL("README.md", EXAMPLES);

function pagesIn(folder: URL): URL[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory
      ? pagesIn(new URL(`${name}/`, folder))
      : name.endsWith(".md")
      ? [new URL(name, folder)]
      : []
  );
}

const pages = pagesIn(PAGES);
const PAPERS = ["COMPARISON", "MEASUREMENTS", "ARCHITECTURE", "DECISIONS"]
  .concat("PROMISES", "SECURITY", "CONTRIBUTING")
  .map((name) => new URL(`../${name}.md`, PAGES));
for (const base of [...pages, INDEX, ...PAPERS]) {
  const name = base.pathname.split("/").slice(-3).join("/");
  Deno.test(`the links of ${name} lead to what exists`, () => {
    const page = read(base);
    const links = [...page.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)];
    assert(links.length > 0);
    for (const [, link = ""] of links) {
      const url = new URL(link, base);
      const fragment = url.hash.slice(1);
      url.hash = "";
      assert(Deno.statSync(url), link);
      const isThere = fragment === "" || fragmentsOf(read(url))
        .includes(fragment);
      assert(isThere, `no heading for ${link}`);
    }
  });
}

const FINDINGS = [
  ...read(new URL("findings.md", PAGES)).matchAll(/^- \*\*(\w+):\*\*/gm),
].map(([, id]) => id);

Deno.test("errors.md has a heading for each code", () => {
  const errors = read(new URL("../../lib/core/errors.ts", import.meta.url));
  const [, union = ""] = /type OAuthClientErrorCode =(.*?);/s.exec(errors) ??
    [];
  const codes = [...union.matchAll(/"(\w+)"/g)].map(([, code = ""]) => code);
  const page = read(new URL("errors.md", PAGES));
  const headings = [...page.matchAll(/^### (.+)$/gm)].map(([, code]) => code);
  assertEquals(headings.sort(), codes.sort());
});

Deno.test("CHANGELOG.md has the numbers of codes and findings, the newest first", () => {
  const changes = read(new URL("../../CHANGELOG.md", import.meta.url))
    .replace(/\s+/g, " ");
  const stated = [/(\d+) stable codes/, /its (\d+) findings/]
    .map((number) => Number(number.exec(changes)?.[1]));
  const codes = read(new URL("errors.md", PAGES)).match(/^### /gm)?.length;
  assertEquals(stated, [codes, FINDINGS.length]);
});

Deno.test("ARCHITECTURE.md has 15 kB at most, and names files that exist", () => {
  const root = new URL("../../", import.meta.url);
  const text = read(new URL(".github/ARCHITECTURE.md", root));
  assert(new TextEncoder().encode(text).length <= 15_000);
  const isThere = (path: string) =>
    ["lib/", ""].some((base) => {
      try {
        return Deno.statSync(new URL(base + path, root)).isFile;
      } catch {
        return false;
      }
    });
  const paths = [...text.matchAll(/`([\w/]+\.ts)`/g)]
    .map(([, path = ""]) => path);
  assertEquals(paths.filter((path) => !isThere(path)), []);
});

Deno.test("the index of examples names each of them", () => {
  const index = read(INDEX);
  for (const folder of ["", "apis/", "frameworks/", "hosts/", "workloads/"]) {
    for (
      const { name, isFile } of Deno.readDirSync(new URL(folder, EXAMPLES))
    ) {
      const isExample = isFile && /\.(ts|html)$/.test(name) &&
        !name.startsWith("_") &&
        (!name.endsWith("_test.ts") || name === "mcp_client_test.ts");
      if (isExample) assert(index.includes(`](${folder}${name})`), name);
    }
  }
});

Deno.test("findings.md lists each finding of the doctor", () => {
  const rules = read(new URL("../doctor/snapshots/rules.txt", import.meta.url));
  const ids = [...rules.matchAll(/^\w+/gm)].map(([id]) => id);
  assertEquals(FINDINGS.toSorted(), ids.sort());
});

Deno.test("the doctor finds nothing wrong with the server in servers-of-yours.md", async () => {
  const page = read(new URL("servers-of-yours.md", PAGES));
  const [resource, server] = [...page.matchAll(/```json\n(.*?)```/gs)]
    .map(([, json = ""]) => JSON.parse(json));
  const [, name = "", value = ""] = /^(WWW-.*?): (.*)$/m.exec(page) ?? [];
  const [url = ""] = /https:[^"]+/.exec(value) ?? [];
  const documents: Record<string, unknown> = {
    [url]: resource,
    [`${server.issuer}/.well-known/oauth-authorization-server`]: server,
  };
  const { verdict, findings } = await diagnose(resource.resource, {
    fetch: (url) =>
      Promise.resolve(
        url === resource.resource
          ? new Response(null, { status: 401, headers: { [name]: value } })
          : documents[url]
          ? Response.json(documents[url])
          : new Response(null, { status: 404 }),
      ),
  });
  assertEquals([verdict, findings], ["ready", []]);
});
