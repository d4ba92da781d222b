/** The help of the program and of each command. */

import { type Command, type CommandOption, optionsOf } from "../_options.ts";

const ENDING = `\
Exit status: 0 if the command succeeded; 1 if it failed; 2 for invalid
arguments; 3 if sign-in is required but the command cannot prompt; 130
after Ctrl-C.`;

/** The help of the program. */
export const HELP = `\
Signs in to OAuth servers, keeps the sessions, and prints tokens for scripts.

  oauth-helper login URL      sign in, and keep the session
  oauth-helper token URL      print an access token, refreshed if necessary
  oauth-helper headers URL    print the header fields of a request, as JSON
  oauth-helper logout URL     revoke the tokens, and delete the session
  oauth-helper status         list the sessions
  oauth-helper doctor URL     diagnose why a client cannot get a token

  oauth-helper COMMAND --help   the options of a command
  oauth-helper --version        print the version

URL is the URL of the API, such as an MCP server; the authorization server is
discovered from its response. Without installation:

  npx @oauth-helper/client login URL
  deno run -A jsr:@oauth-helper/client/cli login URL

Each URL and account has a session file that only its user can read, in
$XDG_STATE_HOME/oauth-helper or ~/.local/state/oauth-helper; on macOS in
~/Library/Application Support/oauth-helper, on Windows in
%LOCALAPPDATA%\\oauth-helper. NO_COLOR turns colours off.

${ENDING}`;

const ASKING = `\
Signs in first if there is no session, but only where the standard error is a
terminal: otherwise the exit status is 3.`;

/** The help of a command. */
interface Help {
  readonly does: string;
  readonly usage: string;
  /** What stands after the options. */
  readonly notes?: string;
  /** The exit status, if it differs from the other commands. */
  readonly ending?: string;
}

const COMMANDS: Readonly<Record<Command, Help>> = {
  login: {
    does: `\
Signs in with the browser, keeps the session, and requests URL once with the
token. If the API rejects the token, the exit status is 1.`,
    usage: "oauth-helper login [options] URL",
    notes: `\
A valid session with the scopes of --scope is not replaced, unless URL rejects
its token.`,
  },
  token: {
    does: `\
Prints only the access token, refreshed if necessary. If URL has no session,
uses the session of its closest parent URL.`,
    usage: `\
oauth-helper token [options] URL
  curl -H "Authorization: Bearer $(oauth-helper token URL)" URL`,
    notes: ASKING,
  },
  headers: {
    does: `\
Prints the header fields of a request as JSON, for hosts that run a helper.
If URL has no session, uses the session of its closest parent URL.`,
    usage: `\
oauth-helper headers [options] URL
  curl -H @<(oauth-helper headers --lines URL) URL`,
    notes: ASKING,
  },
  logout: {
    does: `\
Revokes the tokens where the server can, and deletes the session. If the server
cannot be reached, or --client cannot delete the client at present, the session
is kept, and the exit status is 1.`,
    usage: "oauth-helper logout [options] URL",
  },
  status: {
    does: "Lists the sessions, without tokens.",
    usage: "oauth-helper status [options]",
  },
  doctor: {
    does: `\
Diagnoses why a client cannot get a token for a URL, or why servers reject
a client metadata document.`,
    usage: `\
oauth-helper doctor [options] URL
  oauth-helper doctor --client-metadata DOCUMENT [options] [URL]`,
    notes: `\
Without --sign-in, requests are GET, and with --browser OPTIONS. Only a URL that
responds to GET without a challenge, and with a page, a redirect, or an error
other than 401 and 429, receives a POST, without the header fields of --header:
a ping of the Model Context Protocol, which has no effect on a server of that
protocol.

A sign-in registers a client unless you pass one. It calls the URL with the
token, and with a token that is not valid, refreshes the token, and revokes it
at the end. It uses no stored session, and stores none. A sign-in that needs
--allow-http, or --trusted-issuer for a server with endpoints of another origin,
is tried only if you pass that option. The report contains no header fields that
were sent, no tokens and no codes.

In Deno, -N is enough; the browser needs --allow-run, --html needs
--allow-write, and files that are read need --allow-read.`,
    ending: `\
Exit status: 0 if a client can continue, with the options in the verdict if it
lists any; 1 if it stops whatever its options; 2 for invalid arguments; 130
after Ctrl-C.`,
  },
};

const WIDTH = 80;
const INDENT = 26;

/** Returns the lines of an option: its name, and what it does. */
function optionLines(
  command: Command,
  [name, { short, value, help }]: [string, CommandOption],
): string[] {
  const words = typeof help === "string" ? help : help[command] ?? "";
  const named = `${short ? `-${short}, ` : ""}--${name} ${value ?? ""}`;
  const column = " ".repeat(INDENT);
  // A long name has a line of its own.
  const lines = named.length + 3 < INDENT
    ? [`  ${named}`.padEnd(INDENT)]
    : [`  ${named}`, column];
  for (const word of words.split(" ")) {
    const line = `${lines.at(-1)}${word} `;
    if (line.trimEnd().length <= WIDTH) lines[lines.length - 1] = line;
    else lines.push(`${column}${word} `);
  }
  return lines.map((line) => line.trimEnd());
}

/** Returns the help of a command. */
export function helpOf(command: Command): string {
  const { does, usage, notes, ending = ENDING } = COMMANDS[command];
  const options = Object.entries(optionsOf(command))
    .flatMap((option) => optionLines(command, option)).join("\n");
  return [
    does,
    `Usage:\n  ${usage}`,
    `Options:\n${options}`,
    ...(notes ? [notes] : []),
    ending,
  ].join("\n\n");
}
