/** What the user can do about an error of the library. */

import { adviceFor } from "../core/advice.ts";
import {
  isOAuthClientError,
  type OAuthClientErrorCode,
} from "../core/errors.ts";
import { ExitCode, Failure } from "./_failure.ts";

/** The remedies for a code, for every command. */
const REMEDIES: Readonly<Partial<Record<OAuthClientErrorCode, string>>> = {
  discovery_failed:
    "`oauth-helper doctor URL` says what is missing. For an API without metadata, " +
    "pass what its manual says: --server-metadata FILE.",
  expired: "Run the command again, and enter the code sooner.",
  issuer_mismatch:
    "Pass --issuer URL with the server of --client-id, or leave out --client-id.",
  invalid_session:
    "Pass the --key-command that the session was kept with, or delete the file and " +
    "sign in again.",
  redirect_refused:
    "`oauth-helper doctor URL` shows where the server redirects to.",
  unsupported:
    "`oauth-helper doctor URL` says what the server supports. Where it registers no " +
    "clients, pass the one from its console: --client-id, --client-secret-file, --issuer.",
  url_refused: "Use https; --allow-http accepts http.",
};

/** For messages that name options of the library. */
const NOTE =
  "An option that the message names in camelCase, such as assumePkce, is " +
  "--assume-pkce here.";

/** Returns an error as the program prints it, with a remedy for the user. */
export function explain(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const { message } = error instanceof Error ? error : new Error(String(error));
  if (!isOAuthClientError(error)) return new Failure(ExitCode.Failed, message);
  const { code } = error;
  if (code === "invalid_argument") return new Failure(ExitCode.Usage, message);
  const { action, retryAfter } = adviceFor(error);
  const later = retryAfter === undefined
    ? "Check the URL and the network, or try again later."
    : `Try again in ${retryAfter} s.`;
  const byAction = {
    retry: later,
    reauthorize: "Run `oauth-helper login URL --fresh`.",
    reregister: "Run `oauth-helper login URL --fresh`.",
    ask_user: "Run the command again to be asked again.",
    give_up: `\`oauth-helper doctor URL\` may say why. ${NOTE}`,
  };
  return new Failure(
    ExitCode.Failed,
    message,
    action === "retry" ? later : REMEDIES[code] ?? byAction[action],
  );
}
