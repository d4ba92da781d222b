/** `options.md` and `events.md` have what the types have. */
import ts from "typescript";
import { fileURLToPath } from "node:url";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  codeFlow,
  createAuthorizedFetch,
  memoryStore,
  OAuthClientError,
  type Session,
} from "../../mod.ts";
import { createTestServers } from "../../lib/testing/mod.ts";
import { createProgram } from "../../scripts/check_options.ts";
import { pageAt, rowsOf, sectionOf } from "../support/markdown.ts";

const pathOf = (path: string) =>
  fileURLToPath(new URL(`../../${path}`, import.meta.url));

const ENTRY = "mod.ts";
const WEB = "lib/web/mod.ts";
const NATIVE = "lib/native/mod.ts";
const BROWSER = "lib/browser/mod.ts";

const program = createProgram([ENTRY, WEB, NATIVE, BROWSER].map(pathOf));
const checker = program.getTypeChecker();

function exportsOf(entry: string): ts.Symbol[] {
  const file = program.getSourceFile(pathOf(entry))!;
  return checker.getExportsOfModule(checker.getSymbolAtLocation(file)!);
}

function typeOf(name: string, entry = ENTRY): ts.Type {
  const symbol = exportsOf(entry).find((symbol) => symbol.name === name);
  if (!symbol) throw new Error(`${entry} does not export ${name}`);
  const isAlias = symbol.flags & ts.SymbolFlags.Alias;
  return checker.getDeclaredTypeOfSymbol(
    isAlias ? checker.getAliasedSymbol(symbol) : symbol,
  );
}

function membersOf(type: ts.Type): string[] {
  return checker.getPropertiesOfType(type).map(({ name }) => name)
    .sort();
}

const OPTIONS = pageAt("options.md");

type Value = string | number | boolean;

/** Returns the value that the text of a literal stands for; undefined for other text. */
function valueOf(text: string): Value | undefined {
  const [, quoted, number, truth] =
    /^(?:["'](.*?)["']|(\d[\d,_]*)(?!\.?\w)|(true|false)\b)/.exec(text) ?? [];
  if (quoted !== undefined) return quoted;
  if (number !== undefined) return Number(number.replace(/[,_]/g, ""));
  return truth === undefined ? undefined : truth === "true";
}

/** Returns the value at the start of a cell; code that is no literal is a string. */
function cellValue(cell: string): Value | undefined {
  const [, code] = /^`([^`]+)`/.exec(cell) ?? [];
  return code === undefined ? valueOf(cell) : valueOf(code) ?? code;
}

/** Checks the last cells of rows, the defaults, with the members of a type. */
function assertDefaults(rows: string[][], type: ts.Type): void {
  for (const [name = "", ...cells] of rows) {
    const cell = cells.at(-1) ?? "";
    const member = type.getProperty(name)!;
    const isRequired = !(member.flags & ts.SymbolFlags.Optional);
    assertEquals(cell.startsWith("required"), isRequired, `${name}: ${cell}`);
    for (const tag of member.getJsDocTags()) {
      if (tag.name !== "default") continue;
      const text = ts.displayPartsToString(tag.text).replace(/^\{/, "");
      const value = valueOf(text);
      if (value !== undefined) assertEquals(cellValue(cell), value, name);
    }
  }
}

const ENTIRE = "## Options of createAuthorizedFetch";

Deno.test("options.md has each option of createAuthorizedFetch", () => {
  const rows = rowsOf(sectionOf(OPTIONS, ENTIRE));
  const type = typeOf("AuthorizedFetchOptions");
  assertEquals(rows.map(([name]) => name).sort(), membersOf(type));
  assertDefaults(rows, type);
});

Deno.test("options.md has each method of the fetch", () => {
  const rows = rowsOf(sectionOf(OPTIONS, "## Methods of the fetch"));
  const methods = membersOf(typeOf("AuthorizedFetch"));
  assertEquals(rows.map(([name]) => name).sort(), methods);
});

/** What a method sends. */
const METHODS: [
  method: string,
  expected: string[],
  call: (world: ReturnType<typeof signedIn>) => Promise<unknown>,
][] = [
  ["signIn", [], ({ api }) => api.signIn()],
  ["signIn", ["token"], ({ api, servers }) => {
    servers.advance(3600);
    return api.signIn();
  }],
  [
    "signIn",
    // The first token request checks whether the server still knows the client.
    ["resource", "token", "authorization", "token"],
    ({ api }) => api.signIn({ fresh: true }),
  ],
  ["session", [], ({ api }) => api.session()],
  [
    "revoke",
    ["revocation", "revocation"],
    async ({ api }) => assertEquals(await api.revoke(), true),
  ],
  ["renew", ["resource", "token"], async ({ api, servers }) => {
    const { token: { access_token } } = await api.signIn();
    servers.expireAccessTokens();
    const headers = { Authorization: `Bearer ${access_token}` };
    const response = await servers.fetch(servers.resource, { headers });
    Object.defineProperty(response, "url", { value: servers.resource });
    const { token } = await api.renew(response);
    assert(token.access_token !== access_token);
  }],
  ["save", [], async ({ api }) => await api.save(await api.signIn())],
];

function signedIn() {
  const servers = createTestServers();
  const { resource, fetch, now, receiver } = servers;
  const flow = codeFlow(receiver);
  const open = () =>
    createAuthorizedFetch(resource, { fetch, now, flow, store: memoryStore() });
  return { servers, api: open(), open };
}

for (const [method, expected, call] of METHODS) {
  Deno.test(`${method} of the fetch sends: ${expected}`, async () => {
    const world = signedIn();
    const { servers, api } = world;
    await api.signIn();
    const sent: string[] = [];
    servers.intercept = ({ endpoint }) => {
      if (!/metadata/.test(endpoint)) sent.push(endpoint);
      return undefined;
    };
    await call(world);
    assertEquals(sent, expected);
  });
}

Deno.test("options.md is right about the errors of the methods", async () => {
  const { api, servers, open } = signedIn();
  const session = await api.signIn();
  const { resource, fetch } = servers;
  const without = createAuthorizedFetch(resource, { fetch });
  const other = { ...session, resource: "https://other.example" };
  const load = () => Promise.resolve({} as Session);
  const store = { load, save: () => Promise.resolve() };
  const broken = createAuthorizedFetch(resource, { fetch, store });
  const rows: [code: string, call: () => Promise<unknown>][] = [
    ["unsupported", () => without.signIn()],
    ["invalid_session", () => broken.session()],
    ["invalid_argument", () => api.renew(new Response())],
    ["identifier_mismatch", () => open().save(other)],
  ];
  for (const [code, call] of rows) {
    const error = await assertRejects(call, OAuthClientError);
    assertEquals(error.code, code);
  }
});

const namesIn = (text = "") =>
  [...text.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);

const OF_WEB = sectionOf(OPTIONS, "## Options of createWebSignIn");

Deno.test("options.md has each option of createWebSignIn", () => {
  const rows = rowsOf(OF_WEB);
  const type = typeOf("WebSignInOptions", WEB);
  const [, except, ofFlow] = /except (.*?), and\s+these of `codeFlow`: (.*?)\./s
    .exec(OF_WEB) ?? [];
  const inherited = membersOf(typeOf("AuthorizedFetchOptions"))
    .filter((name) => !namesIn(except).includes(name));
  const names = rows.map(([name = ""]) => name);
  const listed = [...names, ...inherited, ...namesIn(ofFlow)];
  assertEquals(listed.sort(), membersOf(type));
  assertDefaults(rows, type);
});

const WEB_METHODS = {
  login: "WebLoginOptions",
  logout: "WebLogoutOptions",
};

for (const [method, name] of Object.entries(WEB_METHODS)) {
  Deno.test(`options.md has each option of ${method}`, () => {
    const [, list = ""] = new RegExp(`\`${method}\\(request, \\{ (.*?) \\}`)
      .exec(OF_WEB) ?? [];
    assertEquals(list.split(", ").sort(), membersOf(typeOf(name, WEB)));
  });
}

const RECEIVERS = {
  loopback: ["LoopbackReceiverOptions", NATIVE],
  popup: ["PopupReceiverOptions", BROWSER],
  redirect: ["RedirectReceiverOptions", BROWSER],
} as const;

/** Returns the rows for one of several flows or receivers. */
const rowsFor = (one: string, heading: string) =>
  rowsOf(sectionOf(OPTIONS, heading))
    .filter(([, all = ""]) => all === "all" || all.split(", ").includes(one));

const OF_RECEIVERS = "## Options of the receivers";

Deno.test("this file knows each receiver", () => {
  const types = [NATIVE, BROWSER].flatMap(exportsOf)
    .map(({ name }) => name)
    .filter((name) => name.endsWith("ReceiverOptions"));
  const known = Object.values(RECEIVERS).map(([name]) => name);
  assertEquals(types.sort(), known.sort());
});

for (const [receiver, [name, entry]] of Object.entries(RECEIVERS)) {
  Deno.test(`options.md has each option of the receiver ${receiver}`, () => {
    const rows = rowsFor(receiver, OF_RECEIVERS);
    const type = typeOf(name, entry);
    assertEquals(rows.map(([name]) => name).sort(), membersOf(type));
    assertDefaults(rows, type);
  });
}

/**
 * Returns the defaults in the parameters and variables of a file that are literals, or
 * constants of it that are.
 */
function defaultsIn(path: string): Map<string, Value> {
  const found = new Map<string, Value>();
  const constants = new Map<string, ts.Expression>();
  const file = program.getSourceFile(pathOf(path))!;
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && node.initializer) {
      constants.set(node.name.getText(), node.initializer);
    }
    if (ts.isBindingElement(node) && node.initializer) {
      const { name, initializer } = node;
      const given = constants.get(initializer.getText()) ?? initializer;
      const value = valueOf(given.getText());
      if (value !== undefined) found.set(name.getText(), value);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Rows, and the file whose code has their defaults, with how many. */
const DEFAULTS: [path: string, rows: string[][], count: number][] = [
  ["lib/web/_web_settings.ts", rowsOf(OF_WEB), 6],
  [
    "lib/native/_receiver_settings.ts",
    rowsFor("loopback", OF_RECEIVERS),
    4,
  ],
  ["lib/browser/popup_receiver.ts", rowsFor("popup", OF_RECEIVERS), 2],
];

for (const [path, rows, count] of DEFAULTS) {
  Deno.test(`options.md has the defaults of ${path}`, () => {
    const defaults = defaultsIn(path);
    const checked = rows.filter(([name = ""]) => defaults.has(name));
    assertEquals(checked.length, count);
    for (const [name = "", ...cells] of checked) {
      assertEquals(cellValue(cells.at(-1) ?? ""), defaults.get(name), name);
    }
  });
}

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
  const types = exportsOf(ENTRY)
    .map(({ name }) => name)
    .filter((name) => /.FlowOptions$/.test(name) && name !== "FlowOptions");
  assertEquals(types.sort(), Object.values(FLOWS).sort());
});

for (const [flow, type] of Object.entries(FLOWS)) {
  Deno.test(`options.md has each option of the flow ${flow}`, () => {
    const rows = rowsFor(flow, "## Options of the flows");
    assertEquals(rows.map(([name]) => name).sort(), membersOf(typeOf(type)));
    // The cells of these name the flows that require them.
    const others = rows.filter(([name]) =>
      name !== "client" && name !== "show"
    );
    assertDefaults(others, typeOf(type));
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
