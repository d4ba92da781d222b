/** Nothing in the library is decided by reading a message; errors have members. */

import { assertEquals } from "@std/assert";
import { filesBelow } from "../../scripts/support/portable_tests.ts";

const lib = new URL("../../lib/", import.meta.url);

/**
 * Where a message is read all the same: SQLite says only there that another process
 * has locked the database.
 */
const ALLOWED = ["stores/deno_kv_store.ts"];

/** Methods of a string that decide by what is in it. */
const READING =
  /^(match|matchAll|replace|replaceAll|includes|startsWith|endsWith|split|indexOf|lastIndexOf|search|localeCompare)$/;
/** Names of values that were thrown. */
const THROWN = /^(e|err|error|thrown|cause|reason|failure|exception)$/;

/** Checks whether the value of an expression is a message, or made of one. */
function isMessage(
  node: Deno.lint.Node,
  variables: ReadonlySet<string>,
): boolean {
  const within = (part: Deno.lint.Node) => isMessage(part, variables);
  const isThrown = (part: Deno.lint.Node) =>
    (part.type === "Identifier" && THROWN.test(part.name)) || within(part);
  switch (node.type) {
    case "Identifier":
      return node.name === "message" || variables.has(node.name);
    case "MemberExpression":
      return node.property.type === "Identifier" &&
        node.property.name === "message";
    case "ChainExpression":
    case "TSAsExpression":
    case "TSNonNullExpression":
      return within(node.expression);
    case "ConditionalExpression":
      return within(node.consequent) || within(node.alternate);
    case "LogicalExpression":
      return within(node.left) || within(node.right);
    case "TemplateLiteral":
      return node.expressions.some(isThrown);
    case "CallExpression":
      return node.callee.type === "MemberExpression"
        ? within(node.callee.object)
        : node.callee.type === "Identifier" && node.callee.name === "String" &&
          node.arguments.some(isThrown);
    default:
      return false;
  }
}

/** Finds the expressions that read a message. */
const plugin: Deno.lint.Plugin = {
  name: "messages",
  rules: {
    "not-read": {
      create(context) {
        const variables = new Set<string>();
        const report = (node: Deno.lint.Node) =>
          context.report({ node, message: context.sourceCode.getText(node) });
        return {
          VariableDeclarator({ id, init }) {
            if (
              id.type === "Identifier" && init && isMessage(init, variables)
            ) {
              variables.add(id.name);
            }
          },
          CallExpression(node) {
            const { callee, arguments: given } = node;
            if (callee.type !== "MemberExpression") return;
            const { object, property } = callee;
            const name = property.type === "Identifier" ? property.name : "";
            const isRead = READING.test(name) && isMessage(object, variables);
            const isTested = /^(test|exec|includes|has)$/.test(name) &&
              given.some((one) => isMessage(one, variables));
            if (isRead || isTested) report(node);
          },
          BinaryExpression(node) {
            const isComparison = /^[!=]==?$/.test(node.operator);
            const sides = [node.left, node.right];
            if (
              isComparison && sides.some((one) => isMessage(one, variables))
            ) {
              report(node);
            }
          },
          SwitchStatement(node) {
            if (isMessage(node.discriminant, variables)) report(node);
          },
        };
      },
    },
  },
};

function findIn(name: string, source: string): string[] {
  return Deno.lint.runPlugin(plugin, name, source)
    .map(({ message }) => `${name}: ${message}`);
}

Deno.test("no file of lib/ decides by reading a message", async () => {
  const found: string[] = [];
  for await (const name of filesBelow(lib)) {
    found.push(...findIn(name, await Deno.readTextFile(new URL(name, lib))));
  }
  const others = found.filter((one) =>
    !ALLOWED.some((name) => one.startsWith(`${name}: `))
  );
  assertEquals(others, []);
  assertEquals(found.length, ALLOWED.length);
});
