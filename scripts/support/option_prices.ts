/**
 * What an option costs: the bytes that a bundle loses if nothing reads the option.
 * Every read of its name in `lib/` is replaced by `undefined`, and terser drops what is
 * then never reached, also behind a call, which esbuild does not. That is an estimate:
 * a program without the option would also be written more simply.
 */
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import { minify } from "terser";
import ts from "typescript";
import { root } from "./deno.ts";

/** An option, and the gzipped bytes that it costs. */
export interface Price {
  readonly name: string;
  readonly bytes: number;
}

/** Options of the first program of README, as `public_api.txt` lists them. */
const OPTION =
  /^(?:\.\/native )?interface (?:AuthorizedFetch|CodeFlow|FileStore|LoopbackReceiver)Options\.(\w+)\?:/gm;

/**
 * Options without which nothing works, and those with a name that means something else
 * in another place.
 */
const UNPRICED: readonly string[] = [
  ...["client", "fetch", "flow", "now", "resourceIndicator", "scopes", "store"],
  ...["host", "key", "open", "parameters", "path", "port", "print", "title"],
];

/** What replaces the characters between two positions of a string. */
type Edit = readonly [start: number, end: number, text: string];

/** Returns the function or file within which a name is known. */
function scopeOf(node: ts.Node): ts.Node {
  let scope = node;
  while (!ts.isFunctionLike(scope) && !ts.isSourceFile(scope)) {
    scope = scope.parent;
  }
  return scope;
}

/** Checks whether an identifier is read as a variable. */
function isRead(node: ts.Identifier): boolean {
  const { parent } = node;
  const isName = "name" in parent && parent.name === node;
  return !isName && !("propertyName" in parent && parent.propertyName === node);
}

function variableEdits(scope: ts.Node, local: string, value: string): Edit[] {
  const edits: Edit[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node)) return;
    if (ts.isShorthandPropertyAssignment(node) && node.name.text === local) {
      edits.push([node.getStart(), node.end, `${local}: ${value}`]);
    } else if (ts.isIdentifier(node) && node.text === local && isRead(node)) {
      edits.push([node.getStart(), node.end, value]);
    }
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(scope, visit);
  return edits;
}

function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
}

/** Returns a source without the reads of an option. */
export function withoutOption(
  given: ts.SourceFile | string,
  option: string,
): string {
  const source = typeof given === "string" ? parse("a.ts", given) : given;
  const edits: Edit[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node)) return;
    if (
      ts.isBindingElement(node) && ts.isIdentifier(node.name) &&
      ts.isObjectBindingPattern(node.parent) &&
      (node.propertyName ?? node.name).getText() === option
    ) {
      const { name, initializer } = node;
      const value = `(${initializer?.getText() ?? "undefined"})`;
      edits.push(...variableEdits(scopeOf(node), name.text, value));
      // Another name, so that a rest of the pattern has no such member either.
      edits.push([node.getStart(), node.end, `${option}: _${option}_`]);
      return;
    }
    if (
      ts.isPropertyAccessExpression(node) && node.name.text === option &&
      !(ts.isBinaryExpression(node.parent) && node.parent.left === node &&
        node.parent.operatorToken.kind === ts.SyntaxKind.EqualsToken)
    ) {
      edits.push([node.getStart(), node.end, "(undefined)"]);
      return;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  let text = source.text;
  let last = Infinity;
  // From the end; what is within a change before it is skipped.
  for (
    const [start, end, value] of edits.sort((a, b) =>
      b[1] - a[1] || a[0] - b[0]
    )
  ) {
    if (end > last) continue;
    text = text.slice(0, start) + value + text.slice(end);
    last = start;
  }
  return text;
}

/** Bundles code without an option; returns the gzipped bytes. */
async function gzippedWithout(
  code: string,
  sources: Map<string, ts.SourceFile>,
  option: string | undefined,
): Promise<number> {
  const { outputFiles } = await esbuild.build({
    stdin: { contents: code, resolveDir: fileURLToPath(root) },
    bundle: true,
    format: "esm",
    target: "es2022",
    platform: "browser",
    external: ["node:*"],
    write: false,
    logLevel: "silent",
    plugins: [{
      name: "without-option",
      setup: ({ onLoad }) =>
        onLoad({ filter: /\.ts$/ }, async ({ path }) => {
          const source = sources.get(path) ??
            parse(path, await Deno.readTextFile(path));
          sources.set(path, source);
          const contents = option === undefined
            ? source.text
            : withoutOption(source, option);
          return { contents, loader: "ts" };
        }),
    }],
  });
  const { code: minified = "" } = await minify(outputFiles[0]!.text, {
    module: true,
    ecma: 2020,
    compress: { passes: 2, pure_getters: true },
  });
  return gzipSync(minified, { level: 9 }).length;
}

/** Returns what each option costs in a bundle of this code, the dearest first. */
export async function pricesOf(code: string): Promise<Price[]> {
  const list = await Deno.readTextFile(
    new URL("tests/support/public_api.txt", root),
  );
  const names = new Set(
    [...list.matchAll(OPTION)].map(([, name = ""]) => name),
  );
  const sources = new Map<string, ts.SourceFile>();
  const all = await gzippedWithout(code, sources, undefined);
  const prices: Price[] = [];
  for (const name of names) {
    if (UNPRICED.includes(name)) continue;
    const bytes = all - await gzippedWithout(code, sources, name);
    prices.push({ name, bytes });
  }
  return prices.sort((a, b) => b.bytes - a.bytes);
}
