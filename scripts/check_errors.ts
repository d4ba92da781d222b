/**
 * Checks where errors are made. Once an operation has sent something, its context makes
 * them (`lib/http/_error.ts`), so that they repeat nothing that was sent. The other
 * places are counted here: there nothing was sent yet, or the message has no value of a
 * server or a request.
 */

import ts from "typescript";

/** Folders whose functions make requests. `core/` makes none. */
const FOLDERS =
  /\/lib\/((?:http|discovery|client|token|session|flows|fetch)(?:\/\w+)+\.ts)$/;

/** How many errors each file makes by itself. */
const COUNTS: Readonly<Record<string, number>> = {
  "http/_error.ts": 1,
  "discovery/_strict_search.ts": 1,
  "client/_jws.ts": 1,
  "client/_authentication_selection.ts": 1,
  "client/registration.ts": 1,
  "client/signing_key.ts": 1,
  "token/_authorization_parameters.ts": 1,
  "token/cross_app_access.ts": 2,
  "token/id_token.ts": 1,
  "session/_refreshed_id_token.ts": 1,
  // A copy of an error.
  "fetch/policy/_put_off.ts": 1,
  // No caller receives it.
  "fetch/keeper/_task_lock.ts": 1,
  // Nothing was sent.
  "fetch/_whole_session.ts": 1,
  "session/_version.ts": 1,
};

/** Checks whether a node makes an error without a context. */
function makesError(node: ts.Node): boolean {
  return ts.isNewExpression(node)
    ? node.expression.getText() === "OAuthClientError"
    : ts.isCallExpression(node) && node.expression.getText() === "hinted";
}

/** Returns the files that make another number of errors than is counted. */
export function findOtherErrors(program: ts.Program): string[] {
  const found = new Map(Object.keys(COUNTS).map((file) => [file, 0]));
  for (const source of program.getSourceFiles()) {
    const [, file] = FOLDERS.exec(source.fileName) ?? [];
    if (file === undefined) continue;
    const visit = (node: ts.Node): void => {
      if (makesError(node)) found.set(file, (found.get(file) ?? 0) + 1);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return [...found].filter(([file, count]) => count !== (COUNTS[file] ?? 0))
    .map(([file, count]) =>
      `lib/${file}: ${count} times new OAuthClientError or hinted(), expected ` +
      `${COUNTS[file] ?? 0}: use errorOf() of lib/http/_error.ts`
    );
}
