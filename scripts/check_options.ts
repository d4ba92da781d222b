/**
 * Checks that no function passes its whole options object to another one, instead of
 * listing the members. TypeScript accepts an object with more members than a type has,
 * so that a spread also passes members that are not meant for the other function, such
 * as header fields for another server.
 *
 * An options object, or a copy of it, may be passed to a function that destructures it in its
 * parameters, or whose name ends in `Of` or is `requireObject`: it takes members out.
 * `requireNames` and `requireFlowNames` only read the names.
 */

import { fileURLToPath } from "node:url";
import ts from "typescript";
import { root } from "./support/deno.ts";
import { entryPoints } from "./support/npm_package.ts";
import { findOtherErrors } from "./check_errors.ts";

/**
 * A survey of the doctor keeps the options for its rules, which read members; a flow is
 * called with the request of the fetch, also by a function that wraps it; the start of a
 * sign-in passes the options on to functions that take members out.
 */
const KEEPERS = ["takeSurvey", "flow", "startWith"];

/** Returns why a file breaks the rule, one message for each place. */
function findPassedOptions(
  program: ts.Program,
  isChecked: (path: string) => boolean,
): string[] {
  const checker = program.getTypeChecker();

  /** Checks whether a type is one of options, or made of one by `Omit` and the like. */
  function isOptions(type: ts.Type): boolean {
    const { aliasSymbol, aliasTypeArguments = [] } = type;
    const name = aliasSymbol?.name ?? type.getSymbol()?.name ?? "";
    return /(Options|^FlowRequest)$/.test(name) ||
      (/^(Omit|Pick|Partial|Readonly)$/.test(name) &&
        aliasTypeArguments.some(isOptions)) ||
      (type.isUnionOrIntersection() && type.types.some(isOptions));
  }

  /** Checks whether an expression is an options object, or what is left of one. */
  function holdsOptions(node: ts.Expression): boolean {
    if (ts.isParenthesizedExpression(node)) {
      return holdsOptions(node.expression);
    }
    if (ts.isBinaryExpression(node)) return holdsOptions(node.left);
    if (!ts.isIdentifier(node) && !ts.isPropertyAccessExpression(node)) {
      return false;
    }
    if (isOptions(checker.getTypeAtLocation(node))) return true;
    const declaration = checker.getSymbolAtLocation(node)?.valueDeclaration;
    if (!declaration || !ts.isBindingElement(declaration)) return false;
    const { dotDotDotToken, parent } = declaration;
    return dotDotDotToken !== undefined &&
      isOptions(checker.getTypeAtLocation(parent));
  }

  /** Checks whether a function takes members out of an argument. */
  function takesOut(call: ts.CallExpression | ts.NewExpression, index: number) {
    const name = call.expression.getText();
    if (
      /(Of|requireObject|require(Flow)?Names)$/.test(name) ||
      KEEPERS.includes(name)
    ) return true;
    const declaration = checker.getResolvedSignature(call)?.getDeclaration();
    const pattern = declaration?.parameters[index]?.name;
    return pattern !== undefined && ts.isObjectBindingPattern(pattern) &&
      !pattern.elements.some(({ dotDotDotToken }) => dotDotDotToken);
  }

  /** Checks whether an object literal is an argument, or within one. */
  function isInArgument(node: ts.Node): boolean {
    const { parent } = node;
    if (ts.isCallExpression(parent)) {
      const index = parent.arguments.findIndex((one) => one === node);
      return index >= 0 && !takesOut(parent, index);
    }
    return (ts.isObjectLiteralExpression(parent) ||
      ts.isPropertyAssignment(parent) || ts.isSpreadAssignment(parent) ||
      ts.isConditionalExpression(parent) ||
      ts.isParenthesizedExpression(parent)) && isInArgument(parent);
  }

  const problems: string[] = [];
  for (const file of program.getSourceFiles()) {
    if (!isChecked(file.fileName)) continue;
    const report = (node: ts.Node, problem: string) => {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      problems.push(`${file.fileName}:${line + 1}: ${problem}`);
    };
    const visit = (node: ts.Node): void => {
      if (
        ts.isSpreadAssignment(node) && holdsOptions(node.expression) &&
        isInArgument(node.parent)
      ) {
        report(node, `${node.getText()} in an argument: name the members`);
      }
      if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
        node.arguments?.forEach((argument, index) => {
          if (holdsOptions(argument) && !takesOut(node, index)) {
            report(argument, `${argument.getText()} is passed on whole`);
          }
        });
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return problems;
}

const OPTIONS: ts.CompilerOptions = {
  allowImportingTsExtensions: true,
  exactOptionalPropertyTypes: true,
  lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  noEmit: true,
  strict: true,
  target: ts.ScriptTarget.ESNext,
  types: [],
};

export function createProgram(files: readonly string[]): ts.Program {
  return ts.createProgram(files, OPTIONS);
}

if (import.meta.main) {
  const entries = entryPoints.map(({ path }) =>
    fileURLToPath(new URL(path, root))
  );
  const program = createProgram(entries);
  const passed = findPassedOptions(
    program,
    (path) => path.includes("/lib/") && !path.endsWith(".d.ts"),
  );
  const errors = findOtherErrors(program);
  const problems = [...passed, ...errors];
  for (const problem of problems) console.error(problem);
  console.log(`Options: ${passed.length} problems. Errors: ${errors.length}.`);
  Deno.exit(problems.length === 0 ? 0 : 1);
}
