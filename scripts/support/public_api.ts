/** Reads the exports of a module from its declarations, one line for each part. */

import ts from "typescript";

/** Writes types in full, whatever their length; an alias keeps its name. */
const FORMAT = ts.TypeFormatFlags.NoTruncation |
  ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope;

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  types: [],
};

/** A module's exports: the names of its values, and everything as sorted lines. */
export interface PublicApi {
  readonly values: string[];
  readonly lines: string[];
}

/** What stands before a type, or between two of them. */
const BEFORE_TYPE = /^(?: (?:=>|[=?:]|is|extends) |[:;,] )/;

/** Orders the members of a union: null and undefined are the last. */
function inOrder(a: string, b: string): number {
  const isLast = (one: string) => Number(/^(null|undefined)$/.test(one));
  return isLast(a) - isLast(b) || (a < b ? -1 : 1);
}

/**
 * Sorts the members of each union in a line, also in unions of object literals:
 * TypeScript writes them in the order in which it has read them, so that the import of
 * another file could change a line.
 */
export function sortUnions(line: string): string {
  let at = 0;
  /** Reads up to the closing bracket, or to the end. */
  const read = (): string => {
    let [done, member] = ["", ""];
    let members: string[] = [];
    const finish = () => {
      done += [...members, member].sort(inOrder).join(" | ");
      [members, member] = [[], ""];
    };
    while (at < line.length && !/[)\]}>]/.test(line[at]!)) {
      const rest = line.slice(at);
      const [before] = BEFORE_TYPE.exec(rest) ?? [];
      const [text] = /^"(?:[^"\\]|\\.)*"|^`[^`]*`/.exec(rest) ?? [];
      if (rest.startsWith(" | ")) {
        members.push(member);
        member = "";
        at += 3;
      } else if (before) {
        finish();
        done += before;
        at += before.length;
      } else if (/[([{<]/.test(line[at]!)) {
        member += line[at++]! + read() + line[at++]!;
      } else {
        member += text ?? line[at]!;
        at += (text ?? " ").length;
      }
    }
    finish();
    return done;
  };
  return read();
}

/** Reads the exports of an entry point, a source or a declaration file. */
export function readPublicApi(entry: string): PublicApi {
  const program = ts.createProgram([entry], OPTIONS);
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(entry);
  const module = file && checker.getSymbolAtLocation(file);
  if (!module) throw new Error(`${entry} is not a module`);
  const symbols = checker.getExportsOfModule(module).map((exported) => ({
    name: exported.name,
    symbol: exported.flags & ts.SymbolFlags.Alias
      ? checker.getAliasedSymbol(exported)
      : exported,
  }));
  return {
    values: symbols
      .filter(({ symbol }) => symbol.flags & ts.SymbolFlags.Value)
      .map(({ name }) => name).sort(),
    lines: symbols
      .flatMap(({ name, symbol }) => describe(name, symbol, checker))
      .map(sortUnions).sort(),
  };
}

/** Returns the lines of a symbol, which is a value, a type, or both. */
function describe(
  name: string,
  symbol: ts.Symbol,
  checker: ts.TypeChecker,
): string[] {
  const { flags } = symbol;
  const write = (type: ts.Type, format = FORMAT) =>
    checker.typeToString(type, undefined, format);
  const members = (kind: string) => {
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    const index = type.getStringIndexType();
    return [
      `${kind} ${name}`,
      ...checker.getPropertiesOfType(type).map((member) => {
        const mark = member.flags & ts.SymbolFlags.Optional ? "?" : "";
        const memberType = write(checker.getTypeOfSymbol(member));
        return `${kind} ${name}.${member.name}${mark}: ${memberType}`;
      }),
      ...index ? [`${kind} ${name}[string]: ${write(index)}`] : [],
    ];
  };
  /**
   * Formats a signature. An omitted parameter and undefined are the same, which
   * sources and declarations write differently.
   */
  const signature = (given: ts.Signature) =>
    given.parameters.reduce((text, parameter) => {
      const type = write(checker.getTypeOfSymbol(parameter));
      const optional = `${parameter.name}?: ${
        type.replace(/ \| undefined$/, "")
      }`;
      return text.replaceAll(`${optional} | undefined`, optional);
    }, checker.signatureToString(given, undefined, FORMAT));

  const lines: string[] = [];
  if (flags & ts.SymbolFlags.Interface) lines.push(...members("interface"));
  if (flags & ts.SymbolFlags.TypeAlias) {
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    const text = write(type, FORMAT | ts.TypeFormatFlags.InTypeAlias);
    lines.push(`type ${name} = ${text}`);
  }
  if (!(flags & ts.SymbolFlags.Value)) return lines;
  const type = checker.getTypeOfSymbol(symbol);
  if (flags & ts.SymbolFlags.Class) {
    const constructors = type.getConstructSignatures();
    lines.push(
      ...members("class"),
      ...constructors.map((one) => `class ${name}.new${signature(one)}`),
    );
  } else if (flags & ts.SymbolFlags.Function) {
    const calls = type.getCallSignatures();
    lines.push(...calls.map((one) => `function ${name}${signature(one)}`));
  } else lines.push(`const ${name}: ${write(type)}`);
  return lines;
}
