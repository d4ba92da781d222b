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
export interface IPublicApi {
  readonly values: string[];
  readonly lines: string[];
}

/** Reads the exports of an entry point, a source or a declaration file. */
export function readPublicApi(entry: string): IPublicApi {
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
      .sort(),
  };
}

/**
 * Formats a signature. An omitted parameter and undefined are the same, which
 * sources and declarations write differently.
 */
function writeSignature(
  signature: ts.Signature,
  checker: ts.TypeChecker,
): string {
  let text = checker.signatureToString(signature, undefined, FORMAT);
  for (const parameter of signature.parameters) {
    const type = checker.typeToString(
      checker.getTypeOfSymbol(parameter),
      undefined,
      FORMAT,
    ).replace(/ \| undefined$/, "");
    const optional = `${parameter.name}?: ${type}`;
    text = text.replaceAll(`${optional} | undefined`, optional);
  }
  return text;
}

/** Returns the lines of a symbol, which is a value, a type, or both. */
function describe(
  name: string,
  symbol: ts.Symbol,
  checker: ts.TypeChecker,
): string[] {
  const { flags } = symbol;
  const lines: string[] = [];
  const write = (type: ts.Type) =>
    checker.typeToString(type, undefined, FORMAT);
  const members = (kind: string, type: ts.Type) => {
    lines.push(`${kind} ${name}`);
    for (const member of checker.getPropertiesOfType(type)) {
      const isOptional = member.flags & ts.SymbolFlags.Optional;
      const memberType = write(checker.getTypeOfSymbol(member));
      lines.push(
        `${kind} ${name}.${member.name}${isOptional ? "?" : ""}: ${memberType}`,
      );
    }
    const index = type.getStringIndexType();
    if (index) lines.push(`${kind} ${name}[string]: ${write(index)}`);
  };
  if (flags & ts.SymbolFlags.Interface) {
    members("interface", checker.getDeclaredTypeOfSymbol(symbol));
  }
  if (flags & ts.SymbolFlags.TypeAlias) {
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    const text = checker.typeToString(
      type,
      undefined,
      FORMAT | ts.TypeFormatFlags.InTypeAlias,
    );
    lines.push(`type ${name} = ${text}`);
  }
  if (flags & ts.SymbolFlags.Class) {
    members("class", checker.getDeclaredTypeOfSymbol(symbol));
    for (
      const constructed of checker.getTypeOfSymbol(symbol)
        .getConstructSignatures()
    ) {
      lines.push(`class ${name}.new${writeSignature(constructed, checker)}`);
    }
  } else if (flags & ts.SymbolFlags.Function) {
    for (
      const signature of checker.getTypeOfSymbol(symbol).getCallSignatures()
    ) {
      lines.push(`function ${name}${writeSignature(signature, checker)}`);
    }
  } else if (flags & ts.SymbolFlags.Value) {
    lines.push(`const ${name}: ${write(checker.getTypeOfSymbol(symbol))}`);
  }
  return lines;
}
