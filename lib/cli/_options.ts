/** The options of the commands: one table, from which they are parsed and explained. */

/** The commands of the program. */
export type Command =
  | "login"
  | "token"
  | "headers"
  | "logout"
  | "status"
  | "doctor";

/** An option of some commands. */
export interface CommandOption {
  readonly type: "string" | "boolean";
  readonly multiple?: true;
  readonly short?: string;
  /** The commands that accept it. */
  readonly of: readonly Command[];
  /** What its value is called. */
  readonly value?: string;
  /** What it does; by command where that differs. */
  readonly help: string | { readonly [command in Command]?: string };
}

/** The formats of `--format`, for hosts that run a command. */
export const FORMATS = ["kubernetes", "docker"] as const;

/** One of the formats. */
export type TokenFormat = typeof FORMATS[number];

const SIGN_IN = ["login", "token", "headers"] as const;
const SESSION = [...SIGN_IN, "logout", "status"] as const;
const SERVER = [...SIGN_IN, "doctor"] as const;

/** Every option, in the order of the help. */
export const OPTIONS = {
  "sign-in": {
    type: "boolean",
    of: ["doctor"],
    help: "sign in with the browser, and use the token",
  },
  "device": {
    type: "boolean",
    of: ["login", "doctor"],
    help: "sign in on another device, with a code",
  },
  "paste": {
    type: "boolean",
    of: ["login"],
    help: "do not open a browser; paste the URL of the last page instead",
  },
  "fresh": {
    type: "boolean",
    of: ["login"],
    help: "sign in even if there is a session",
  },
  "browser": {
    type: "boolean",
    of: ["logout", "doctor"],
    help: {
      logout:
        "also open the server's sign-out page; otherwise, the next login may " +
        "need no password",
      doctor: "also check whether a web page can be the client (CORS); with " +
        "--client-id, a page that has a client",
    },
  },
  "client": {
    type: "boolean",
    of: ["logout"],
    help: "also delete the registered client, if the server supports that",
  },
  "force": {
    type: "boolean",
    of: ["logout"],
    help: "delete the session even if the server cannot be reached, or the " +
      "file cannot be read",
  },
  "json": {
    type: "boolean",
    of: ["login", "token", "status", "doctor"],
    help: {
      login: "print the session as JSON, without tokens",
      token: "print access_token, token_type and expires_at as JSON",
      status:
        "print a list of objects: url, account, state (valid, refreshable or " +
        "ended), resource, issuer, client_id, can_delete_client, scopes, " +
        "expires_at, " +
        "has_refresh_token and refresh_expires_at, in seconds since 1970; or " +
        "file and error",
      doctor: "print the diagnosis as JSON",
    },
  },
  "format": {
    type: "string",
    of: ["token"],
    value: "FORMAT",
    help: "print the token as JSON for a host that runs a command: " +
      FORMATS.join(" or "),
  },
  "username": {
    type: "string",
    of: ["token"],
    value: "NAME",
    help: "the user name for --format docker that the registry documents",
  },
  "html": {
    type: "string",
    of: ["doctor"],
    value: "FILE",
    help: "also write a report to send to the operator of the server",
  },
  "lines": {
    type: "boolean",
    of: ["headers"],
    help: "print a line for each header field instead of JSON",
  },
  "min-ttl": {
    type: "string",
    of: ["token", "headers"],
    value: "SECONDS",
    help: "refresh a token that expires earlier, 60 by default; or a token " +
      "with a shorter lifetime in its last quarter",
  },
  "header": {
    type: "string",
    multiple: true,
    of: ["doctor"],
    value: "FIELD",
    help: 'send a header field, "Name: value", to the host of the URL; ' +
      "repeatable",
  },
  "header-file": {
    type: "string",
    of: ["doctor"],
    value: "FILE",
    help: "the same for each line of FILE, for secrets: other users can read " +
      "arguments",
  },
  "user-agent": {
    type: "string",
    of: ["doctor"],
    value: "TEXT",
    help: "the User-Agent of all requests",
  },
  "timeout": {
    type: "string",
    of: ["doctor"],
    value: "SECONDS",
    help: "time for each request, 10 by default",
  },
  "account": {
    type: "string",
    of: SESSION,
    value: "NAME",
    help: "the account to use, if there are several sessions",
  },
  "key-command": {
    type: "string",
    of: SESSION,
    value: "COMMAND",
    help: "encrypt the session with the 32 bytes that COMMAND prints as " +
      "base64; required with each command for this session",
  },
  "quiet": {
    type: "boolean",
    short: "q",
    of: SESSION,
    help: "print only errors, and the lines that a sign-in needs",
  },
  "client-id": {
    type: "string",
    of: SERVER,
    value: "ID",
    help: "use this client, and do not register one",
  },
  "client-secret-file": {
    type: "string",
    of: SERVER,
    value: "F",
    help: "the file with the client secret; requires --issuer",
  },
  "client-secret-post": {
    type: "boolean",
    of: SERVER,
    help: "send the client secret in the body (client_secret_post)",
  },
  "key-file": {
    type: "string",
    of: SIGN_IN,
    value: "F",
    help: "the file with the client's private key, PKCS #8 in PEM or a JWK " +
      "(private_key_jwt); requires --issuer",
  },
  "client-credentials": {
    type: "boolean",
    of: SIGN_IN,
    help:
      "get a token for the client itself; requires --client-secret-file or " +
      "--key-file, with each command",
  },
  "client-metadata-url": {
    type: "string",
    of: SIGN_IN,
    value: "URL",
    help:
      "use the client metadata document at URL, if the server supports that",
  },
  "id-token": {
    type: "boolean",
    of: SIGN_IN,
    help: "use the ID token instead of the access token, with each command",
  },
  "initial-access-token-file": {
    type: "string",
    of: SIGN_IN,
    value: "F",
    help: "the file with the initial access token for a registration; " +
      "requires --issuer",
  },
  "client-metadata": {
    type: "string",
    of: ["doctor"],
    value: "URL",
    help:
      "diagnose your client metadata document, and whether the server of an " +
      "API can use it; with --sign-in, sign in with it",
  },
  "issuer": {
    type: "string",
    of: SERVER,
    value: "URL",
    help:
      "the authorization server of the client, or of the initial access token",
  },
  "redirect-uri": {
    type: "string",
    of: SERVER,
    value: "URI",
    help: "the client's redirect URI (http://127.0.0.1:33418/callback, or " +
      "another port)",
  },
  "scope": {
    type: "string",
    multiple: true,
    of: SERVER,
    value: "SCOPES",
    help: "scopes to request; repeatable",
  },
  "param": {
    type: "string",
    multiple: true,
    of: SERVER,
    value: "NAME=VALUE",
    help: "a parameter of the authorization request; repeatable",
  },
  "resource": {
    type: "string",
    of: SERVER,
    value: "URI",
    help: "send URI as resource parameter, or none if false",
  },
  "server-metadata": {
    type: "string",
    of: SERVER,
    value: "FILE",
    help:
      "JSON with issuer, authorization_endpoint and token_endpoint, for an " +
      "API that publishes no metadata",
  },
  "assume-pkce": {
    type: "boolean",
    of: SERVER,
    help: "use PKCE although the server does not list it",
  },
  "require-iss": {
    type: "boolean",
    of: SIGN_IN,
    help: "reject an authorization response without iss (RFC 9207)",
  },
  "trusted-issuer": {
    type: "string",
    multiple: true,
    of: SERVER,
    value: "A=B",
    help: "accept B as issuer in the metadata of server A; repeatable",
  },
  "allow-http": {
    type: "boolean",
    of: [...SERVER, "logout"],
    help: "accept http URLs that are not on loopback",
  },
  "no-input": {
    type: "boolean",
    of: SIGN_IN,
    help: "exit with status 3 if sign-in is required, without registering a " +
      "client",
  },
  "help": {
    type: "boolean",
    short: "h",
    of: [...SESSION, "doctor"],
    help: "print this",
  },
} as const satisfies Readonly<Record<string, CommandOption>>;

type Options = typeof OPTIONS;

/** The name of an option, written like a variable. */
type Camel<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;

/**
 * The values of the options, by their names, written like variables. An option that
 * accepts no value is true or false.
 */
export type OptionValues = {
  readonly [Name in keyof Options as Camel<Name>]: Options[Name] extends
    { multiple: true } ? string[] | undefined
    : Options[Name] extends { type: "string" } ? string | undefined
    : boolean;
};

/** Returns the options of a command. */
export function optionsOf(command: Command): Record<string, CommandOption> {
  return Object.fromEntries(
    Object.entries<CommandOption>(OPTIONS).filter(([, { of }]) =>
      of.includes(command)
    ),
  );
}
