import { parseArgs } from "node:util";
import { printable, quote } from "../core/_quote.ts";
import { parseHttpUrl, quoteUrl } from "../core/_url.ts";
import { namedIndicator } from "../session/_requested_resource.ts";
import { didYouMean, usageError } from "./_failure.ts";
import {
  type Command,
  type CommandOption,
  FORMATS,
  OPTIONS,
  optionsOf,
  type OptionValues,
  type TokenFormat,
} from "./_options.ts";

/** Seconds that a token should remain valid. */
const DEFAULT_MIN_TTL = 60;

/** Options that are read as something else, by their names, written like variables. */
type Read =
  | "clientMetadata"
  | "clientMetadataUrl"
  | "format"
  | "header"
  | "minTtl"
  | "param"
  | "redirectUri"
  | "resource"
  | "scope"
  | "timeout"
  | "trustedIssuer";

/** The arguments: most options' values, and the results of reading the others. */
export interface Arguments extends Omit<OptionValues, Read> {
  readonly command: Command;
  /** The resource; absent for `status`, and perhaps for a document of a client. */
  readonly url?: URL;
  readonly redirectUri?: URL | undefined;
  /** The scopes to request; undefined for those that the server names. */
  readonly scopes?: readonly string[] | undefined;
  readonly parameters: Readonly<Record<string, string>>;
  readonly trustedIssuers: Readonly<Record<string, string>>;
  /** The resource indicator to send, or false to send none. */
  readonly indicator?: string | false | undefined;
  readonly minTtlSeconds: number;
  readonly format?: TokenFormat | undefined;
  readonly timeoutMs?: number | undefined;
  readonly clientMetadataUrl?: URL | undefined;
  /** Whether that document is diagnosed, with `url` as the target. */
  readonly isDocument: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** Fails for an unknown option, or an option without its value. */
function parse(
  command: Command,
  args: readonly string[],
): { given: OptionValues; positionals: string[] } {
  const options = optionsOf(command);
  // Not strict, because messages would differ by runtime, with unsuitable advice.
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
    // Another option, unless an equals sign precedes it.
    const isOption = !inlineValue && value?.startsWith("-");
    if (type === "string" && (value === undefined || isOption)) {
      throw usageError(`${rawName} requires a value`);
    }
  }
  const given = Object.entries<CommandOption>(OPTIONS).map((
    [name, { type }],
  ) => [
    name.replace(/-(.)/g, (_, letter) => letter.toUpperCase()),
    values[name] ?? (type === "boolean" ? false : undefined),
  ]);
  return { given: Object.fromEntries(given), positionals };
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

/** Reads `URL=URL` of an option; both may contain more equals signs. */
function readTrusted(
  option: string,
  values: readonly string[] = [],
): Record<string, string> {
  return Object.fromEntries(values.map((value) => {
    const [, named, claimed] = /^(https?:\S+?)=(https?:\S+)$/.exec(value) ?? [];
    if (named === undefined || claimed === undefined) {
      throw usageError(`--${option} requires EXPECTED_URL=CLAIMED_URL`);
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
 * Fails if an option of a sign-in is set without one that starts it. Returns whether a
 * client metadata document is diagnosed, instead of a sign-in with it.
 */
function requireSignIn(given: OptionValues): boolean {
  const { browser, clientId, scope, param, redirectUri, resource } = given;
  const ofSignIn = {
    // A page may use a client.
    "client-id": browser ? undefined : clientId,
    "client-secret-file": browser ? given.clientSecretFile : undefined,
    scope,
    param,
    "redirect-uri": redirectUri,
    resource,
  };
  const [name] =
    Object.entries(ofSignIn).find(([, value]) => value !== undefined) ?? [];
  const isSignIn = given.signIn || given.device;
  if (name && !isSignIn) throw usageError(`--${name} requires --sign-in`);
  const isDocument = given.clientMetadata !== undefined && !isSignIn;
  const other = (["html", "browser"] as const).find((one) => given[one]);
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

function readFormat(value: string | undefined): TokenFormat | undefined {
  const format = FORMATS.find((one) => one === value);
  if (format !== value) {
    throw usageError(`--format requires ${FORMATS.join(" or ")}`);
  }
  return format;
}

/** Fails if options exclude or require each other. */
function requireConsistent(given: OptionValues): void {
  const { clientId, issuer, initialAccessTokenFile: tokenFile } = given;
  if (given.clientSecretFile !== undefined && !clientId) {
    throw usageError("--client-secret-file requires --client-id");
  }
  if (given.clientSecretPost && given.clientSecretFile === undefined) {
    throw usageError("--client-secret-post requires --client-secret-file");
  }
  if (given.keyFile !== undefined && !clientId) {
    throw usageError("--key-file requires --client-id");
  }
  if (given.keyFile !== undefined && given.clientSecretFile !== undefined) {
    throw usageError("--key-file excludes --client-secret-file");
  }
  if (given.clientMetadataUrl !== undefined && clientId) {
    throw usageError("--client-metadata-url excludes --client-id");
  }
  const credentials = given.clientSecretFile ?? given.keyFile;
  if (given.clientCredentials && credentials === undefined) {
    throw usageError(
      "--client-credentials requires --client-secret-file or --key-file",
    );
  }
  if (given.clientCredentials && (given.device || given.paste)) {
    throw usageError("--client-credentials needs no --device and no --paste");
  }
  if (tokenFile !== undefined && clientId) {
    throw usageError("--client-id needs no --initial-access-token-file");
  }
  if (tokenFile !== undefined && issuer === undefined) {
    // Otherwise, the resource would select the server that receives the token.
    throw usageError(
      "--initial-access-token-file requires --issuer, the server of the token",
    );
  }
  if (issuer !== undefined && !clientId && !tokenFile) {
    // It does not select the server.
    throw usageError("--issuer requires --client-id");
  }
  if (given.format !== undefined && given.json) {
    throw usageError("--format excludes --json");
  }
  if ((given.format === "docker") !== Boolean(given.username)) {
    throw usageError("--format docker and --username require each other");
  }
  const ofRedirect = given.paste || given.requireIss ||
    given.redirectUri !== undefined;
  if (given.device && ofRedirect) {
    throw usageError(
      "--device has no redirect: omit --paste, --redirect-uri and " +
        "--require-iss",
    );
  }
}

export function readArguments(
  command: Command,
  args: readonly string[],
): Arguments {
  const { given, positionals } = parse(command, args);
  const [first, ...others] = positionals;
  const {
    clientMetadata,
    clientMetadataUrl = clientMetadata,
    format,
    header,
    minTtl,
    param,
    resource,
    scope,
    timeout: timeoutText,
    trustedIssuer,
    ...same
  } = given;
  const isHelp = given.help;
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
  requireConsistent(given);
  const timeout = readSeconds("timeout", timeoutText);
  if (timeout === 0) throw usageError("--timeout requires a number of seconds");
  return {
    ...same,
    command,
    ...(!isHelp && first !== undefined && { url: readUrl(first) }),
    account: readAccount(given.account),
    format: readFormat(format),
    redirectUri: readRedirectUri(given.redirectUri),
    scopes: scope?.flatMap((value) => value.split(/\s+/))
      .filter((one) => one !== ""),
    parameters: readPairs("param", param),
    trustedIssuers: readTrusted("trusted-issuer", trustedIssuer),
    indicator: readIndicator(resource),
    minTtlSeconds: readSeconds("min-ttl", minTtl) ?? DEFAULT_MIN_TTL,
    timeoutMs: timeout && timeout * 1_000,
    clientMetadataUrl: clientMetadataUrl === undefined
      ? undefined
      : readUrl(clientMetadataUrl),
    isDocument,
    headers: readHeaders("header", header),
  };
}
