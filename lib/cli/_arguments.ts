/** The arguments of the commands that use sessions. */

import { parseArgs } from "node:util";
import { printable, quote } from "../core/_quote.ts";
import { parseHttpUrl, quoteUrl } from "../core/_url.ts";
import { usageError } from "./_failure.ts";

/** The commands that use sessions. */
export type SessionCommand =
  | "login"
  | "token"
  | "headers"
  | "logout"
  | "status";

const TEXT = { type: "string" } as const;
const TEXTS = { type: "string", multiple: true } as const;
const FLAG = { type: "boolean" } as const;

/** What every command accepts. */
const SHARED = {
  "account": TEXT,
  "key-command": TEXT,
  "quiet": { ...FLAG, short: "q" },
  "help": { ...FLAG, short: "h" },
} as const;

/** Options for a sign-in, or for requests to the authorization server. */
const SERVER = {
  "allow-http": FLAG,
  "assume-pkce": FLAG,
  "client-id": TEXT,
  "client-secret-file": TEXT,
  "issuer": TEXT,
  "no-input": FLAG,
  "param": TEXTS,
  "redirect-uri": TEXT,
  "require-iss": FLAG,
  "resource": TEXT,
  "scope": TEXTS,
  "server-metadata": TEXT,
  "trusted-issuer": TEXTS,
} as const;

const OPTIONS = {
  login: {
    ...SHARED,
    ...SERVER,
    device: FLAG,
    fresh: FLAG,
    json: FLAG,
    paste: FLAG,
  },
  token: { ...SHARED, ...SERVER, "json": FLAG, "min-ttl": TEXT },
  headers: { ...SHARED, ...SERVER, "lines": FLAG, "min-ttl": TEXT },
  logout: { ...SHARED, "allow-http": FLAG, "force": FLAG },
  status: { ...SHARED, json: FLAG },
} as const;

type Options =
  & typeof OPTIONS["login"]
  & typeof OPTIONS["token"]
  & typeof OPTIONS["headers"]
  & typeof OPTIONS["logout"];

/** The values of the options; each command has some of them. */
type Values = {
  readonly [Name in keyof Options]?: Options[Name] extends { multiple: true }
    ? string[]
    : Options[Name] extends { type: "string" } ? string
    : boolean;
};

/** Seconds that a token should remain valid. */
const DEFAULT_MIN_TTL = 60;

/** The arguments, by the names of their options. */
export interface IArguments {
  readonly command: SessionCommand;
  /** The resource; absent for `status`. */
  readonly url?: URL;
  readonly account?: string | undefined;
  readonly keyCommand?: string | undefined;
  readonly clientId?: string | undefined;
  readonly clientSecretFile?: string | undefined;
  readonly issuer?: string | undefined;
  readonly redirectUri?: URL | undefined;
  readonly serverMetadata?: string | undefined;
  /** The scopes to request; undefined for those that the server names. */
  readonly scopes?: readonly string[] | undefined;
  readonly parameters: Readonly<Record<string, string>>;
  readonly trustedIssuers: Readonly<Record<string, string>>;
  readonly minTtlSeconds: number;
  readonly allowHttp: boolean;
  readonly assumePkce: boolean;
  readonly device: boolean;
  readonly force: boolean;
  readonly fresh: boolean;
  readonly help: boolean;
  readonly json: boolean;
  readonly lines: boolean;
  readonly noInput: boolean;
  readonly omitResource: boolean;
  readonly paste: boolean;
  readonly quiet: boolean;
  readonly requireIss: boolean;
}

/** Checks whether this is a command that uses sessions. */
export function isSessionCommand(name: string): name is SessionCommand {
  return Object.hasOwn(OPTIONS, name);
}

/** Parses the arguments; fails if an option is unknown or lacks its value. */
function parse(
  command: SessionCommand,
  args: readonly string[],
): { given: Values; positionals: string[] } {
  const options: Readonly<Record<string, { type: string }>> = OPTIONS[command];
  // Not strict: the messages would differ by runtime, and give advice that does not
  // apply here.
  const { values, positionals, tokens } = parseArgs({
    // `deno task` passes on the `--` that npm would remove.
    args: args.filter((argument) => argument !== "--"),
    options: OPTIONS[command],
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const { name, rawName, value, inlineValue } = token;
    const type = Object.hasOwn(options, name) ? options[name]?.type : undefined;
    if (type === undefined) {
      throw usageError(`Unknown option '${quote(rawName)}'`);
    }
    if (type === "boolean" && value !== undefined) {
      throw usageError(`${rawName} takes no value`);
    }
    // Another option, unless it is given with an equals sign.
    const isOption = !inlineValue && value?.startsWith("-");
    if (type === "string" && (value === undefined || isOption)) {
      throw usageError(`${rawName} requires a value`);
    }
  }
  return { given: values as Values, positionals };
}

/** Returns the URL of a resource, without its fragment. */
function readUrl(argument: string): URL {
  const url = parseHttpUrl(argument);
  if (!url) {
    throw usageError(
      `'${quoteUrl(argument)}' is not an http or https URL without credentials`,
    );
  }
  url.hash = "";
  return url;
}

/** Reads `name=value` of an option. */
function readPairs(
  option: string,
  values: readonly string[] = [],
): Record<string, string> {
  return Object.fromEntries(values.map((value) => {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(value) ?? [];
    if (name === undefined || text === undefined) {
      throw usageError(`--${option} requires name=value`);
    }
    return [name, text] as const;
  }));
}

/** Reads `issuer=issuer`, where both may have further equals signs. */
function readIssuers(values: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(values.map((value) => {
    const [, named, claimed] = /^(https?:\S+?)=(https?:\S+)$/.exec(value) ?? [];
    if (named === undefined || claimed === undefined) {
      throw usageError("--trusted-issuer requires NAMED_URL=CLAIMED_URL");
    }
    return [named, claimed] as const;
  }));
}

function readSeconds(value: string | undefined): number {
  const seconds = value === undefined ? DEFAULT_MIN_TTL : Number(value);
  if (value === "" || !(seconds >= 0 && seconds < Infinity)) {
    throw usageError("--min-ttl requires a number of seconds");
  }
  return seconds;
}

function readRedirectUri(value: string | undefined): URL | undefined {
  if (value === undefined) return undefined;
  const url = parseHttpUrl(value);
  const isLoopback = url?.protocol === "http:" &&
    ["127.0.0.1", "localhost"].includes(url.hostname) && !url.search &&
    !url.hash;
  if (!url || !isLoopback) {
    throw usageError(
      "--redirect-uri requires a URL like http://127.0.0.1:33418/callback",
    );
  }
  return url;
}

function readAccount(value: string | undefined): string | undefined {
  // It is printed, and part of the name of a file.
  if (value !== undefined && (value === "" || printable(value) !== value)) {
    throw usageError("--account requires a name");
  }
  return value;
}

/** Reads the arguments of a command; fails if they are not valid. */
export function readArguments(
  command: SessionCommand,
  args: readonly string[],
): IArguments {
  const { given, positionals } = parse(command, args);
  const [first, ...others] = positionals;
  const isHelp = given.help ?? false;
  const takesUrl = command !== "status";
  if (!isHelp && takesUrl && first === undefined) {
    throw usageError(`${command} requires a URL`);
  }
  if (!isHelp && (others.length > 0 || (!takesUrl && first !== undefined))) {
    throw usageError(
      `${command} takes ${takesUrl ? "one URL" : "options only"}`,
    );
  }
  if (given.resource !== undefined && given.resource !== "false") {
    throw usageError("--resource can be false only");
  }
  if (given["client-secret-file"] !== undefined && !given["client-id"]) {
    throw usageError("--client-secret-file requires --client-id");
  }
  if (given.issuer !== undefined && !given["client-id"]) {
    // It does not select the server.
    throw usageError("--issuer requires --client-id");
  }
  const ofRedirect = given.paste || given["require-iss"] ||
    given["redirect-uri"] !== undefined;
  if (given.device && ofRedirect) {
    throw usageError(
      "--device has no redirect: leave out --paste, --redirect-uri and " +
        "--require-iss",
    );
  }
  const scopes = given.scope?.flatMap((value) => value.split(/\s+/))
    .filter((scope) => scope !== "");
  return {
    command,
    ...(!isHelp && first !== undefined && { url: readUrl(first) }),
    account: readAccount(given.account),
    keyCommand: given["key-command"],
    clientId: given["client-id"],
    clientSecretFile: given["client-secret-file"],
    issuer: given.issuer,
    redirectUri: readRedirectUri(given["redirect-uri"]),
    serverMetadata: given["server-metadata"],
    scopes,
    parameters: readPairs("param", given.param),
    trustedIssuers: readIssuers(given["trusted-issuer"]),
    minTtlSeconds: readSeconds(given["min-ttl"]),
    allowHttp: given["allow-http"] ?? false,
    assumePkce: given["assume-pkce"] ?? false,
    device: given.device ?? false,
    force: given.force ?? false,
    fresh: given.fresh ?? false,
    help: isHelp,
    json: given.json ?? false,
    lines: given.lines ?? false,
    noInput: given["no-input"] ?? false,
    omitResource: given.resource === "false",
    paste: given.paste ?? false,
    quiet: given.quiet ?? false,
    requireIss: given["require-iss"] ?? false,
  };
}
