/** The error if the user has to sign in, but cannot be prompted. */

import { printable } from "../core/_quote.ts";
import { ExitCode, Failure } from "./_failure.ts";
import type { Host } from "./_host.ts";
import { shellWord } from "./_next_commands.ts";
import { filesOf } from "./_place.ts";
import { sessionNearest, sessionsOf } from "./_session_files.ts";
import type { ResourceArguments } from "./_wanted_session.ts";

export async function nearestSession(
  given: ResourceArguments,
  host: Host,
): Promise<string> {
  const files = await filesOf(given, host).catch(() => []);
  const others = sessionsOf(files).filter(({ url, account }) =>
    url !== given.url.href || account !== given.account
  );
  const nearest = sessionNearest(given.url, others);
  if (!nearest) return "";
  const { url, account } = nearest;
  const options = account === undefined
    ? ""
    : ` --account ${shellWord(printable(account))}`;
  return ` The nearest session is for ${shellWord(printable(url))}${options}.`;
}

export async function personNeeded(
  given: ResourceArguments,
  host: Host,
): Promise<Failure> {
  const { url, account } = given;
  const options = account === undefined
    ? ""
    : ` --account ${shellWord(account)}`;
  return new Failure(
    ExitCode.PersonNeeded,
    `Sign-in is required for ${url.href}`,
    `Run \`oauth-helper login ${
      shellWord(url.href)
    }${options}\` in a terminal.${await nearestSession(given, host)}`,
  );
}
