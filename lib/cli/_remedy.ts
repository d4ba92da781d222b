/** What the user can do about an error of the library. */

import { withoutHints } from "../core/_hints.ts";
import { describeReason } from "../core/_quote.ts";
import { parseUrl } from "../core/_url.ts";
import { adviceFor, isTemporary } from "../core/advice.ts";
import {
  isOAuthClientError,
  type OAuthClientError,
  type OAuthClientErrorCode,
} from "../core/errors.ts";
import { isMismatch } from "../discovery/_search.ts";
import { ExitCode, Failure } from "./_failure.ts";
import { wordsOfHints } from "./_hint_words.ts";
import { type NextCommands, PLACEHOLDERS } from "./_next_commands.ts";

/** The fix for each code, for every command; undefined where others say more. */
const REMEDIES: Readonly<Record<OAuthClientErrorCode, string | undefined>> = {
  discovery_failed:
    "`oauth-helper doctor URL` shows the missing part. For an API without metadata, " +
    "pass the values of its documentation: --server-metadata FILE.",
  expired: "Run the command again, and enter the code sooner.",
  issuer_mismatch:
    "Pass --issuer URL with the server of --client-id, or omit --client-id.",
  invalid_session:
    "If the session was kept with a --key-command, pass that; otherwise delete the " +
    "file and sign in again.",
  redirect_refused:
    "`oauth-helper doctor URL` shows where the server redirects to.",
  sign_in_required: "Run `oauth-helper login URL`.",
  unsupported:
    "`oauth-helper doctor URL` lists what the server supports. If it registers no " +
    "clients, pass the one from its console: --client-id, --client-secret-file, --issuer.",
  url_refused: "Use https; --allow-http accepts http.",
  // The message names which argument.
  invalid_argument: undefined,
  // What helps depends on the status or the error of the server: see `adviceFor`.
  network_error: undefined,
  oauth_error: undefined,
  timeout: undefined,
  unexpected_status: undefined,
  // A user has to read the response, or it belongs to another sign-in.
  identifier_mismatch: undefined,
  invalid_authorization_response: undefined,
  invalid_id_jag: undefined,
  invalid_id_token: undefined,
  invalid_jwt: undefined,
  invalid_metadata: undefined,
  invalid_response: undefined,
  response_too_large: undefined,
  // Of web pages only.
  popup_blocked: undefined,
  popup_closed: undefined,
  redirected: undefined,
};

const OTHER_ISSUER =
  "A server that claims another server's identity may be trying to steal its codes " +
  "and tokens. Only if you know that both are the same server, pass " +
  "--trusted-issuer EXPECTED=CLAIMED. " +
  "`oauth-helper doctor URL` shows what the operator can fix.";

const OTHER_RESOURCE =
  "A resource that claims another's identity may be trying to steal its tokens. Only " +
  "if you know that both are the same resource, pass the server yourself: " +
  "--server-metadata FILE, and --resource with the other name. " +
  "`oauth-helper doctor URL` shows what the operator can fix.";

const UNREGISTERED =
  "The server does not register this client. Pass one from its console: --client-id, " +
  "--client-secret-file, --issuer; or an initial access token: " +
  "--initial-access-token-file, --issuer. `oauth-helper doctor URL` shows more.";

const FIND_OUT = "To find out why, run `oauth-helper doctor URL`.";

/** Returns the message of an error of the library, with the options of the command. */
export function messageOfCommand(error: OAuthClientError): string {
  return withoutHints(error) +
    wordsOfHints(error.hints).map((hint) => ` (${hint})`).join("");
}

/** Returns the message of an error: for a host that has not responded, only why. */
function messageOf(error: OAuthClientError): string {
  const { code, networkReason: reason, url = "" } = error;
  const { host } = parseUrl(url) ?? {};
  return code === "network_error" && reason && host
    ? describeReason(reason, host)
    : messageOfCommand(error);
}

/** Checks whether a server does not register a client, and will not do so later. */
const isUnregistered = ({ request, status = 0 }: OAuthClientError) =>
  request === "registration" && !isTemporary(status);

/** Returns the fixes that depend on more than the code of an error. */
function specialRemedyOf(
  error: OAuthClientError,
  retryAfterSeconds: number | undefined,
): string | undefined {
  const { code, url, attempts = [], status = 0, cause } = error;
  // The metadata of another resource is the cause of the whole discovery.
  if (isOAuthClientError(cause) && cause.code === "identifier_mismatch") {
    return OTHER_RESOURCE;
  }
  // The attempts for the authorization server.
  const firstOfServer = attempts.map(({ error }) => !error).lastIndexOf(true) +
    1;
  const last = attempts.slice(firstOfServer);
  if (last.some(isMismatch) && cause === undefined) return OTHER_ISSUER;
  // Without a URL, it is the user who has taken too long.
  if (code === "timeout" && url === undefined) {
    return "Run the command again, and sign in sooner.";
  }
  if (retryAfterSeconds !== undefined) {
    return `Try again in ${retryAfterSeconds} s.`;
  }
  if (status >= 500) {
    return "The server failed. Try again later, or report the problem to its operator.";
  }
  return isUnregistered(error) ? UNREGISTERED : undefined;
}

/**
 * Returns the error of a sign-in at a server that was only assumed: if an endpoint is
 * missing, the error says that it was a guess.
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

/** Puts commands that a user can run in place of the ones that a remedy names. */
function withCommands(
  { exitCode, message, remedy }: Failure,
  { doctor, login }: NextCommands,
): Failure {
  const words = remedy?.replaceAll(PLACEHOLDERS.doctor, () => doctor)
    .replaceAll(PLACEHOLDERS.login, () => login);
  return new Failure(exitCode, message, words);
}

/** Checks whether the reason of an error is not known: its code or the user says it. */
const isUnexplained = (error: unknown) =>
  isOAuthClientError(error) && REMEDIES[error.code] === undefined &&
  (error.error === undefined || adviceFor(error).action !== "ask_user");

/**
 * Returns an error as the program prints it, with a fix for the user: a sign-in that has
 * failed names the command that finds the reason.
 */
export function explain(
  error: unknown,
  commands: NextCommands = PLACEHOLDERS,
): Failure {
  const failure = explained(error);
  const { exitCode, message, remedy = "" } = failure;
  const lacksReason = commands.isLogin && exitCode === ExitCode.Failed &&
    isUnexplained(error) && !remedy.includes(PLACEHOLDERS.doctor);
  const whole = lacksReason
    ? new Failure(exitCode, message, `${remedy} ${FIND_OUT}`.trim())
    : failure;
  return withCommands(whole, commands);
}

/** Returns an error with the fix for it; its commands have no URL. */
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
  const byAction = {
    retry: "Check the URL and the network, or try again later.",
    reauthorize: "Run `oauth-helper login URL --fresh`.",
    reregister: "Run `oauth-helper login URL --fresh`.",
    ask_user: "Run the command again to retry the sign-in.",
    give_up: FIND_OUT,
  };
  return new Failure(
    ExitCode.Failed,
    message,
    specialRemedyOf(error, retryAfterSeconds) ??
      (action !== "retry" && REMEDIES[code] || byAction[action]),
  );
}
