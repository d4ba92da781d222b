/** What the user can do about an error of the library. */

import { withoutHints } from "../core/_hints.ts";
import { describeReason } from "../core/_quote.ts";
import { parseUrl } from "../core/_url.ts";
import { type AdviceAction, adviceFor, isTemporary } from "../core/advice.ts";
import {
  isOAuthClientError,
  type OAuthClientError,
  type OAuthClientErrorCode,
} from "../core/errors.ts";
import { isMismatch } from "../discovery/_search.ts";
import { ExitCode, Failure, type Remedy, remedy } from "./_failure.ts";
import { wordsOfHints } from "./_hint_words.ts";
import { type NextCommands, PLACEHOLDERS } from "./_next_commands.ts";

/** The fix for each code, for every command; undefined if others are more specific. */
const REMEDIES: Readonly<Record<OAuthClientErrorCode, Remedy | undefined>> = {
  discovery_failed:
    remedy`\`${"doctor"}\` shows the missing part. For an API without metadata, \
pass the values of its documentation: --server-metadata FILE.`,
  expired: remedy`Run the command again, and enter the code sooner.`,
  issuer_mismatch:
    remedy`Pass --issuer URL with the server of --client-id, or omit --client-id.`,
  invalid_session:
    remedy`If the session was kept with a --key-command, pass that; otherwise \
delete the file and sign in again.`,
  redirect_refused:
    remedy`\`${"doctor"}\` shows where the server redirects to.`,
  sign_in_required: remedy`Run \`${"login"}\`.`,
  unsupported:
    remedy`\`${"doctor"}\` lists what the server supports. If it registers no clients, \
pass the one from its console: --client-id, --client-secret-file, --issuer.`,
  url_refused: remedy`Use https; --allow-http accepts http.`,
  // The message names the argument.
  invalid_argument: undefined,
  // The fix depends on the server's status or error: see `adviceFor`.
  network_error: undefined,
  oauth_error: undefined,
  timeout: undefined,
  unexpected_status: undefined,
  // A user must read the response, or it belongs to another sign-in.
  identifier_mismatch: undefined,
  invalid_authorization_response: undefined,
  invalid_id_jag: undefined,
  invalid_id_token: undefined,
  invalid_jwt: undefined,
  invalid_metadata: undefined,
  invalid_response: undefined,
  response_too_large: undefined,
  // For web pages only.
  popup_blocked: undefined,
  popup_closed: undefined,
  redirected: undefined,
};

const OTHER_ISSUER =
  remedy`A server that claims another server's identity may be trying to steal \
its codes and tokens. Only if you know that both are the same server, pass \
--trusted-issuer EXPECTED=CLAIMED. \`${"doctor"}\` shows what the operator can fix.`;

const OTHER_RESOURCE =
  remedy`A resource that claims another's identity may be trying to steal its \
tokens. Only if you know that both are the same resource, pass the server \
yourself: --server-metadata FILE, and --resource with the other name. \
\`${"doctor"}\` shows what the operator can fix.`;

const UNREGISTERED =
  remedy`The server does not register this client. Pass one from its console: \
--client-id, --client-secret-file, --issuer; or an initial access token: \
--initial-access-token-file, --issuer. \`${"doctor"}\` shows more.`;

const FIND_OUT = remedy`To find out why, run \`${"doctor"}\`.`;

/** The command's advice for each action of `adviceFor`, if nothing else applies. */
const BY_ACTION: Readonly<Record<AdviceAction, Remedy>> = {
  retry: remedy`Check the URL and the network, or try again later.`,
  reauthorize: remedy`Run \`${"login"} --fresh\`.`,
  reregister: remedy`Run \`${"login"} --fresh\`.`,
  ask_user: remedy`Run the command again to retry the sign-in.`,
  give_up: FIND_OUT,
};

/** Returns the message of a library error, with the command's options. */
export function messageOfCommand(error: OAuthClientError): string {
  return withoutHints(error) +
    wordsOfHints(error.hints).map((hint) => ` (${hint})`).join("");
}

/** For a host that has not responded, only the reason. */
function messageOf(error: OAuthClientError): string {
  const { code, networkReason: reason, url = "" } = error;
  const { host } = parseUrl(url) ?? {};
  return code === "network_error" && reason && host
    ? describeReason(reason, host)
    : messageOfCommand(error);
}

/** Checks whether a server will never register a client. */
const isUnregistered = ({ request, status = 0 }: OAuthClientError) =>
  request === "registration" && !isTemporary(status);

/** Returns the fixes that depend on more than the error code. */
function specialRemedyOf(
  error: OAuthClientError,
  retryAfterSeconds: number | undefined,
): Remedy | undefined {
  const { code, url, attempts = [], status = 0, cause } = error;
  // Another resource's metadata caused the whole failure.
  if (isOAuthClientError(cause) && cause.code === "identifier_mismatch") {
    return OTHER_RESOURCE;
  }
  // The attempts for the authorization server.
  const firstOfServer = attempts.map(({ error }) => !error).lastIndexOf(true) +
    1;
  const last = attempts.slice(firstOfServer);
  if (last.some(isMismatch) && cause === undefined) return OTHER_ISSUER;
  // Without a URL, the user took too long.
  if (code === "timeout" && url === undefined) {
    return remedy`Run the command again, and sign in sooner.`;
  }
  if (retryAfterSeconds !== undefined) {
    return { words: [`Try again in ${retryAfterSeconds} s.`], commands: [] };
  }
  if (status >= 500) {
    return remedy`The server failed. Try again later, or report the problem to its operator.`;
  }
  return isUnregistered(error) ? UNREGISTERED : undefined;
}

/**
 * Explains a sign-in's error if the server was only assumed: a missing endpoint is then
 * a wrong guess.
 */
export function explainGuess(error: unknown, server: string): unknown {
  if (!isOAuthClientError(error)) return error;
  const isMissing = [404, 405].includes(error.status ?? 0);
  if (!isMissing && !isUnregistered(error)) return error;
  const { exitCode, message } = explain(error);
  const guess = ` (a guess, as ${server} publishes no metadata)`;
  return new Failure(
    exitCode,
    message + guess,
    "Pass the values of the API's documentation: --server-metadata FILE, and a client " +
      "from its console: --client-id, --redirect-uri.",
  );
}

/** Returns a fix with commands that a user can run. */
function wordsOf({ words, commands }: Remedy, next: NextCommands): string {
  const named = ["", ...commands.map((command) => next[command])];
  return words.map((text, index) => `${named[index]}${text}`).join("");
}

/** Checks whether neither the code nor the user explains an error. */
const isUnexplained = (error: unknown) =>
  isOAuthClientError(error) && REMEDIES[error.code] === undefined &&
  (error.error === undefined || adviceFor(error).action !== "ask_user");

interface Explanation {
  readonly exitCode: number;
  readonly message: string;
  readonly remedy?: string;
}

/**
 * Returns an error as the program prints it, with a fix: a failed sign-in names the
 * command that finds the reason.
 */
export function explain(
  error: unknown,
  next: NextCommands = PLACEHOLDERS,
): Explanation {
  const { exitCode, message, remedy } = explained(error);
  const given = typeof remedy === "string"
    ? { words: [remedy], commands: [] }
    : remedy;
  const lacksReason = next.isLogin && exitCode === ExitCode.Failed &&
    isUnexplained(error) && !given?.commands.includes("doctor");
  const all = [...(given ? [given] : []), ...(lacksReason ? [FIND_OUT] : [])];
  return {
    exitCode,
    message,
    ...(all[0] && {
      remedy: all.map((one) => wordsOf(one, next)).join(" "),
    }),
  };
}

function explained(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const failure = error instanceof Error ? error : new Error(String(error));
  if (!isOAuthClientError(error)) {
    return new Failure(ExitCode.Failed, failure.message);
  }
  const message = messageOf(error);
  const { code } = error;
  if (code === "invalid_argument") return new Failure(ExitCode.Usage, message);
  const { action, retryAfterSeconds } = adviceFor(error);
  return new Failure(
    ExitCode.Failed,
    message,
    specialRemedyOf(error, retryAfterSeconds) ??
      (action !== "retry" && REMEDIES[code] || BY_ACTION[action]),
  );
}
