/** `options.md` and `events.md` have what the types have. */
import ts from "typescript";
import { fileURLToPath } from "node:url";
import { assert, assertEquals } from "@std/assert";
import { createProgram } from "../../scripts/check_options.ts";
import { pageAt, rowsOf, sectionOf } from "../support/markdown.ts";

const ENTRY = fileURLToPath(new URL("../../mod.ts", import.meta.url));
const program = createProgram([ENTRY]);
const checker = program.getTypeChecker();

/** Returns an exported type by its name. */
function typeOf(name: string): ts.Type {
  const module = checker.getSymbolAtLocation(program.getSourceFile(ENTRY)!)!;
  const symbol = checker.getExportsOfModule(module)
    .find((symbol) => symbol.name === name);
  if (!symbol) throw new Error(`mod.ts does not export ${name}`);
  const isAlias = symbol.flags & ts.SymbolFlags.Alias;
  return checker.getDeclaredTypeOfSymbol(
    isAlias ? checker.getAliasedSymbol(symbol) : symbol,
  );
}

/** Returns the names of the members of a type. */
function membersOf(type: ts.Type): string[] {
  return checker.getPropertiesOfType(type).map(({ name }) => name)
    .sort();
}

const OPTIONS = pageAt("options.md");

Deno.test("options.md has each option of createAuthorizedFetch", () => {
  const section = sectionOf(OPTIONS, "## Options of createAuthorizedFetch");
  const names = rowsOf(section).map(([name]) => name);
  assertEquals(names.sort(), membersOf(typeOf("AuthorizedFetchOptions")));
});

const FLOWS = {
  code: "CodeFlowOptions",
  device: "DeviceFlowOptions",
  ciba: "CibaFlowOptions",
  credentials: "ClientCredentialsFlowOptions",
  assertion: "AssertionFlowOptions",
  exchange: "ExchangeFlowOptions",
  "cross-app": "CrossAppFlowOptions",
};

Deno.test("this file knows each flow", () => {
  const module = checker.getSymbolAtLocation(program.getSourceFile(ENTRY)!)!;
  const types = checker.getExportsOfModule(module)
    .map(({ name }) => name)
    .filter((name) => /.FlowOptions$/.test(name) && name !== "FlowOptions");
  assertEquals(types.sort(), Object.values(FLOWS).sort());
});

for (const [flow, type] of Object.entries(FLOWS)) {
  Deno.test(`options.md has each option of the flow ${flow}`, () => {
    const rows = rowsOf(sectionOf(OPTIONS, "## Options of the flows"));
    const names = rows
      .filter(([, flows = ""]) =>
        flows === "all" || flows.split(", ").includes(flow)
      )
      .map(([name]) => name);
    assertEquals(names.sort(), membersOf(typeOf(type)));
  });
}

Deno.test("events.md has each event with its members", () => {
  const type = typeOf("AuthorizedFetchEvent");
  assert(type.isUnion());
  const expected = type.types.map((one) => {
    const members = checker.getPropertiesOfType(one)
      .map(({ name, flags }) =>
        `${name}${flags & ts.SymbolFlags.Optional ? "?" : ""}`
      );
    const symbol = one.getProperty("type")!;
    const literal = checker.getTypeOfSymbol(symbol) as ts.StringLiteralType;
    return [
      literal.value,
      // Each has `resource`, as a sentence below the table says.
      members.filter((name) => !/^(type|resource\?)$/.test(name)).sort()
        .join(" "),
    ];
  });
  const rows = rowsOf(sectionOf(pageAt("events.md"), "## All events"))
    .map(([name, , members = ""]) => [
      name,
      [...members.matchAll(/`([^`]+)`/g)].map(([, one]) => one).sort()
        .join(" "),
    ]);
  assertEquals(rows.sort(), expected.sort());
});

Deno.test("events.md has each purpose of a request but that of the doctor", () => {
  const section = sectionOf(pageAt("events.md"), "## All events");
  const [, list = ""] = /`purpose` of a request is one of(.*?)\./s
    .exec(section) ?? [];
  const shown = [...list.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
  const type = typeOf("RequestPurpose");
  assert(type.isUnion());
  const purposes = type.types
    .map((one) => (one as ts.StringLiteralType).value)
    .filter((name) => name !== "client_metadata");
  assertEquals(shown.sort(), purposes.sort());
});
