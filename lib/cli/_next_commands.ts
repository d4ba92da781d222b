/** The commands in a fix, with the URL and options of the failed command. */

import { parseArgs } from "node:util";
import { printable } from "../core/_quote.ts";
import { parseHttpUrl } from "../core/_url.ts";
import type { NextCommand } from "./_failure.ts";
import { type Command, optionsOf } from "./_options.ts";

/** The commands that fixes name, with the URL and the options to run them. */
export interface NextCommands extends Readonly<Record<NextCommand, string>> {
  /** Whether the failed command is a sign-in, whose reason `doctor` finds. */
  readonly isLogin: boolean;
}

/** The commands in a fix without a URL, which the user must insert. */
export const PLACEHOLDERS: NextCommands = {
  doctor: "oauth-helper doctor URL",
  login: "oauth-helper login URL",
  isLogin: false,
};

const SIGN_IN: readonly Command[] = ["login", "token", "headers"];

/** Options of sign-ins that `doctor` cannot try. */
const WITHOUT_USER = ["client-credentials", "key-file"];

/** Quotes text as one word of a shell, which the user may paste into one. */
export function shellWord(text: string): string {
  return /^[\w.:/@%=,-]+$/.test(text)
    ? text
    : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Reads a failed command's arguments, which may be the reason. */
function read(command: Command, args: readonly string[]) {
  const { tokens, positionals: [first] } = parseArgs({
    args: args.filter((argument) => argument !== "--"),
    options: optionsOf(command),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const given = tokens.flatMap((one) => one.kind === "option" ? [one] : []);
  return { given, url: parseHttpUrl(first) };
}

function sharedOptions(given: ReturnType<typeof read>["given"]): string[] {
  const hasClient = given.some(({ name }) => name === "client-id");
  const accepted = optionsOf("doctor");
  return given.flatMap(({ name, value }) => {
    // Without the client, the issuer is useless.
    const isAlone = name === "issuer" && !hasClient;
    const option = name === "client-metadata-url" ? "client-metadata" : name;
    const isOutput = option === "json" || option === "help";
    if (!Object.hasOwn(accepted, option) || isAlone || isOutput) return [];
    if (value === undefined) return [`--${option}`];
    const text = printable(value);
    return [
      text.startsWith("-")
        ? shellWord(`--${option}=${text}`)
        : `--${option} ${shellWord(text)}`,
    ];
  });
}

export function nextCommands(
  command: Command,
  args: readonly string[],
): NextCommands {
  const { given, url } = read(command, args);
  if (!url) return PLACEHOLDERS;
  url.hash = "";
  const named = shellWord(url.href);
  const isSignIn = SIGN_IN.includes(command) &&
    !given.some(({ name }) => WITHOUT_USER.includes(name));
  const options = isSignIn ? ["--sign-in", ...sharedOptions(given)] : [];
  return {
    doctor: ["oauth-helper doctor", named, ...options].join(" "),
    login: `oauth-helper login ${named}`,
    isLogin: command === "login",
  };
}
