/** The arguments of the command. */

import { parseHttpUrl, quoteUrl } from "../core/_url.ts";

export const HELP = `\
Diagnoses why an OAuth client cannot obtain a token for a URL.

  deno run -N jsr:@oauth-helper/client/doctor [options] https://host/path
  npx @oauth-helper/client doctor [options] https://host/path

  --json                  print the diagnosis as JSON
  --html FILE             also write a report that can be sent to the operator
  --header "Name: value"  send a header field to the host of the URL; repeatable
  --user-agent TEXT       the User-Agent of all requests
  --timeout SECONDS       time for each request, 10 by default
  --register              also register a client
  --browser               also make the requests of a web page
  --help                  print this

  --sign-in               sign in with the browser, and use the token
  --device                sign in with a browser on another device
  --client-id ID          the client; one is registered by default
  --client-secret-file F  file with its secret, which --issuer may receive
  --client-metadata URL   URL of your client metadata document
  --issuer URL            issuer that the client is registered with
  --scope "A B"           scopes to request
  --assume-pkce           use PKCE although the server does not list it
  --trusted-issuer A=B    accept B as issuer in the metadata of server A;
                          repeatable
  --allow-http            accept http URLs, and loopback, at any server

Without --register and --sign-in, requests are GET, with --browser also OPTIONS.
Only a URL that
responds to GET with 400, 404, 405, 406 or a page receives a POST, without the
header fields of --header: a ping of the Model Context Protocol, which has no
effect on a server of that protocol.

A sign-in registers a client unless there is one, calls the URL once with the
token, refreshes it, and revokes it at the end. No other session is used, and
none is kept. Where it needs --allow-http, or --trusted-issuer for a server with
endpoints of another origin, it is not tried without that option.

In Deno, -N is enough; with --allow-run the browser is opened, and --html needs
--allow-write. The report has no header fields that were sent, no tokens and no
codes.

Exit status: 0 if a client can continue, if need be with the options that the
verdict names; 1 if it stops whatever its options, or a file cannot be read or
written; 2 for invalid arguments.`;

/** The parsed arguments. */
export interface IArguments {
  json: boolean;
  register: boolean;
  help: boolean;
  signIn: boolean;
  device: boolean;
  assumePkce: boolean;
  browser: boolean;
  allowHttp: boolean;
  trustedIssuers: Record<string, string>;
  html?: string;
  userAgent?: string;
  timeoutMs?: number;
  clientId?: string;
  clientSecretFile?: string;
  clientMetadataUrl?: URL;
  issuer?: URL;
  scopes?: string[];
  headers: Record<string, string>;
  url?: URL;
}

/** An error in the arguments. */
export class UsageError extends Error {}

function readHeader(value: string): [name: string, value: string] {
  const colon = value.indexOf(":");
  if (colon < 1) throw new UsageError('--header requires "Name: value"');
  return [value.slice(0, colon).trim(), value.slice(colon + 1).trim()];
}

function readTimeout(value: string): number {
  const seconds = Number(value);
  if (!(seconds > 0)) {
    throw new UsageError("--timeout requires a number of seconds");
  }
  return seconds * 1_000;
}

function readUrl(argument: string): URL {
  const url = parseHttpUrl(argument);
  if (!url) {
    throw new UsageError(
      `'${quoteUrl(argument)}' is not an http or https URL without credentials`,
    );
  }
  return url;
}

/** Reads `issuer=issuer`, where both may have further equals signs. */
function readIssuers(value: string): [named: string, claimed: string] {
  const [, named, claimed] = /^(https?:\S+?)=(https?:\S+)$/.exec(value) ?? [];
  if (named === undefined || claimed === undefined) {
    throw new UsageError("--trusted-issuer requires NAMED_URL=CLAIMED_URL");
  }
  return [named, claimed];
}

/** How an option is read that has no value. */
const FLAGS: Readonly<Record<string, (found: IArguments) => unknown>> = {
  "--help": (found) => found.help = true,
  "-h": (found) => found.help = true,
  "--json": (found) => found.json = true,
  "--register": (found) => found.register = true,
  "--sign-in": (found) => found.signIn = true,
  "--device": (found) => found.signIn = found.device = true,
  "--browser": (found) => found.browser = true,
  "--assume-pkce": (found) => found.assumePkce = true,
  "--allow-http": (found) => found.allowHttp = true,
};

/** How an option is read that has a value. */
const VALUES: Readonly<
  Record<string, (found: IArguments, value: string) => unknown>
> = {
  "--html": (found, value) => found.html = value,
  "--user-agent": (found, value) => found.userAgent = value,
  "--timeout": (found, value) => found.timeoutMs = readTimeout(value),
  "--client-id": (found, value) => found.clientId = value,
  "--client-secret-file": (found, value) => found.clientSecretFile = value,
  "--client-metadata": (found, value) =>
    found.clientMetadataUrl = readUrl(value),
  "--issuer": (found, value) => found.issuer = readUrl(value),
  "--scope": (found, value) =>
    found.scopes = value.split(" ").filter((scope) => scope !== ""),
  "--trusted-issuer": (found, value) => {
    const [named, claimed] = readIssuers(value);
    found.trustedIssuers[named] = claimed;
  },
  "--header": (found, value) => {
    const [field, text] = readHeader(value);
    found.headers[field] = text;
  },
};

/** Throws if an option is given without another one that it requires. */
function requirePairs(found: IArguments): void {
  const { signIn, clientId, clientSecretFile, issuer } = found;
  const requires = (
    isGiven: unknown,
    name: string,
    has: unknown,
    other: string,
  ) => {
    if (isGiven && !has) throw new UsageError(`${name} requires ${other}`);
  };
  requires(clientId, "--client-id", signIn, "--sign-in");
  requires(found.scopes, "--scope", signIn, "--sign-in");
  requires(found.clientMetadataUrl, "--client-metadata", signIn, "--sign-in");
  requires(clientSecretFile, "--client-secret-file", clientId, "--client-id");
  // The resource names the authorization server, and a secret must not go to any other.
  requires(clientSecretFile, "--client-secret-file", issuer, "--issuer");
  requires(issuer, "--issuer", clientId, "--client-id");
}

/** Parses the arguments; throws if they are not valid. */
export function readArguments(args: readonly string[]): IArguments {
  const found: IArguments = {
    json: false,
    register: false,
    help: false,
    signIn: false,
    device: false,
    assumePkce: false,
    browser: false,
    allowHttp: false,
    trustedIssuers: {},
    headers: {},
  };
  // `deno task` keeps the `--` that npm removes.
  const queue = args.filter((argument) => argument !== "--");
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const [name = "", inline] = next.startsWith("--")
      ? next.split(/=(.*)/s, 2)
      : [next];
    const flag = Object.hasOwn(FLAGS, name) && FLAGS[name];
    const read = Object.hasOwn(VALUES, name) && VALUES[name];
    if (flag) flag(found);
    else if (read) {
      const value = inline ?? queue.shift();
      if (!value) throw new UsageError(`${name} requires a value`);
      read(found, value);
    } else if (name.startsWith("-")) {
      throw new UsageError(`Unknown option '${name}'`);
    } else if (found.url) throw new UsageError("Expected one URL");
    else found.url = readUrl(next);
  }
  if (found.help) return found;
  if (!found.url) throw new UsageError("Expected a URL");
  requirePairs(found);
  return found;
}
