/** The arguments of the commands. */

import { parseArgs } from "node:util";
import { printable, quote } from "../core/_quote.ts";
import { parseHttpUrl, quoteUrl } from "../core/_url.ts";
import { namedIndicator } from "../session/_requested_resource.ts";
import { didYouMean, usageError } from "./_failure.ts";
import { type Command, optionsOf, type OptionValues } from "./_options.ts";

/** Seconds that a token should remain valid. */
const DEFAULT_MIN_TTL = 60;

/** The arguments, by the names of their options. */
export interface IArguments {
  readonly command: Command;
  /** The resource; absent for `status`, and perhaps for a document of a client. */
  readonly url?: URL;
  readonly account?: string | undefined;
  readonly keyCommand?: string | undefined;
  readonly clientId?: string | undefined;
  readonly clientSecretFile?: string | undefined;
  readonly registrationTokenFile?: string | undefined;
  readonly issuer?: string | undefined;
  readonly redirectUri?: URL | undefined;
  readonly serverMetadata?: string | undefined;
  /** The scopes to request; undefined for those that the server names. */
  readonly scopes?: readonly string[] | undefined;
  readonly parameters: Readonly<Record<string, string>>;
  readonly trustedIssuers: Readonly<Record<string, string>>;
  /** The resource indicator to send, or false to send none. */
  readonly indicator?: string | false | undefined;
  readonly minTtlSeconds: number;
  readonly html?: string | undefined;
  readonly userAgent?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly clientMetadataUrl?: URL | undefined;
  /** Whether that document is diagnosed, with `url` as the target. */
  readonly isDocument: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly headerFile?: string | undefined;
  readonly browser: boolean;
  readonly client: boolean;
  readonly signIn: boolean;
  readonly allowHttp: boolean;
  readonly assumePkce: boolean;
  readonly device: boolean;
  readonly force: boolean;
  readonly fresh: boolean;
  readonly help: boolean;
  readonly json: boolean;
  readonly lines: boolean;
  readonly noInput: boolean;
  readonly paste: boolean;
  readonly quiet: boolean;
  readonly requireIss: boolean;
}

/** Parses the arguments; fails if an option is unknown or lacks its value. */
function parse(
  command: Command,
  args: readonly string[],
): { given: OptionValues; positionals: string[] } {
  const options = optionsOf(command);
  // Not strict: the messages would differ by runtime, and give advice that does not
  // apply here.
  const { values, positionals, tokens } = parseArgs({
    // `deno task` passes on the `--` that npm would remove.
    args: args.filter((argument) => argument !== "--"),
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const { name, rawName, value, inlineValue } = token;
    const type = Object.hasOwn(options, name) ? options[name]?.type : undefined;
    if (type === undefined) {
      const names = Object.keys(options).map((one) => `--${one}`);
      throw usageError(
        `Unknown option '${quote(rawName)}'${didYouMean(rawName, names)}`,
      );
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
  return { given: values as OptionValues, positionals };
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

/** Reads `URL=URL` of an option, where both may have further equals signs. */
function readTrusted(
  option: string,
  values: readonly string[] = [],
): Record<string, string> {
  return Object.fromEntries(values.map((value) => {
    const [, named, claimed] = /^(https?:\S+?)=(https?:\S+)$/.exec(value) ?? [];
    if (named === undefined || claimed === undefined) {
      throw usageError(`--${option} requires NAMED_URL=CLAIMED_URL`);
    }
    return [named, claimed] as const;
  }));
}

function readSeconds(
  option: string,
  value: string | undefined,
): number | undefined {
  if (value === undefined) return undefined;
  const seconds = Number(value);
  if (value === "" || !(seconds >= 0 && seconds < Infinity)) {
    throw usageError(`--${option} requires a number of seconds`);
  }
  return seconds;
}

/** Reads `Name: value` of header fields. */
export function readHeaders(
  option: string,
  values: readonly string[] = [],
): Record<string, string> {
  return Object.fromEntries(values.map((value) => {
    const [, name, text] = /^\s*([^:]+?)\s*:(.*)$/s.exec(value) ?? [];
    if (name === undefined || text === undefined) {
      throw usageError(`--${option} requires "Name: value"`);
    }
    return [name, text.trim()] as const;
  }));
}

/**
 * Fails if an option of a sign-in is given, and none of these that start one. Returns
 * whether a client metadata document is diagnosed, in place of a sign-in with it.
 */
function requireSignIn(given: OptionValues): boolean {
  const names = [
    "client-id",
    "scope",
    "param",
    "redirect-uri",
    "resource",
  ] as const;
  const name = names.find((one) => given[one] !== undefined);
  if (name && !given["sign-in"] && !given.device) {
    throw usageError(`--${name} requires --sign-in`);
  }
  const isDocument = given["client-metadata"] !== undefined &&
    !given["sign-in"] && !given.device;
  const other = (["html", "browser"] as const)
    .find((one) => given[one]);
  if (isDocument && other) {
    throw usageError(`--client-metadata with --${other} requires --sign-in`);
  }
  return isDocument;
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

function readIndicator(value: string | undefined): string | false | undefined {
  if (value === "false") return false;
  try {
    return namedIndicator(value);
  } catch {
    throw usageError(
      "--resource requires an absolute URI without a fragment, or false",
    );
  }
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
  command: Command,
  args: readonly string[],
): IArguments {
  const { given, positionals } = parse(command, args);
  const [first, ...others] = positionals;
  const isHelp = given.help ?? false;
  const takesUrl = command !== "status";
  const isDocument = command === "doctor" && requireSignIn(given);
  if (!isHelp && takesUrl && first === undefined && !isDocument) {
    throw usageError(`${command} requires a URL`);
  }
  if (!isHelp && (others.length > 0 || (!takesUrl && first !== undefined))) {
    throw usageError(
      `${command} takes ${takesUrl ? "one URL" : "options only"}`,
    );
  }
  if (given["client-secret-file"] !== undefined && !given["client-id"]) {
    throw usageError("--client-secret-file requires --client-id");
  }
  const tokenFile = given["registration-token-file"];
  if (tokenFile !== undefined && given["client-id"]) {
    throw usageError("--client-id needs no --registration-token-file");
  }
  if (tokenFile !== undefined && given.issuer === undefined) {
    // Otherwise, the resource would select the server that receives the token.
    throw usageError(
      "--registration-token-file requires --issuer, the server of the token",
    );
  }
  if (given.issuer !== undefined && !given["client-id"] && !tokenFile) {
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
  const timeout = readSeconds("timeout", given.timeout);
  if (timeout === 0) throw usageError("--timeout requires a number of seconds");
  const metadataUrl = given["client-metadata"];
  return {
    command,
    ...(!isHelp && first !== undefined && { url: readUrl(first) }),
    account: readAccount(given.account),
    keyCommand: given["key-command"],
    clientId: given["client-id"],
    clientSecretFile: given["client-secret-file"],
    registrationTokenFile: tokenFile,
    issuer: given.issuer,
    redirectUri: readRedirectUri(given["redirect-uri"]),
    serverMetadata: given["server-metadata"],
    scopes,
    parameters: readPairs("param", given.param),
    trustedIssuers: readTrusted("trusted-issuer", given["trusted-issuer"]),
    indicator: readIndicator(given.resource),
    minTtlSeconds: readSeconds("min-ttl", given["min-ttl"]) ?? DEFAULT_MIN_TTL,
    html: given.html,
    userAgent: given["user-agent"],
    timeoutMs: timeout && timeout * 1_000,
    clientMetadataUrl: metadataUrl === undefined
      ? undefined
      : readUrl(metadataUrl),
    isDocument,
    headers: readHeaders("header", given.header),
    headerFile: given["header-file"],
    browser: given.browser ?? false,
    client: given.client ?? false,
    signIn: given["sign-in"] ?? false,
    allowHttp: given["allow-http"] ?? false,
    assumePkce: given["assume-pkce"] ?? false,
    device: given.device ?? false,
    force: given.force ?? false,
    fresh: given.fresh ?? false,
    help: isHelp,
    json: given.json ?? false,
    lines: given.lines ?? false,
    noInput: given["no-input"] ?? false,
    paste: given.paste ?? false,
    quiet: given.quiet ?? false,
    requireIss: given["require-iss"] ?? false,
  };
}
