/** The help of the program and of each command. */

import type { SessionCommand } from "./_arguments.ts";

const ENDING = `\
Exit status: 0 if the command was successful; 1 if it failed; 2 for invalid
arguments; 3 if a person has to sign in, but cannot be asked. After Ctrl-C it is
130.`;

/** The help of the program. */
export const HELP = `\
Signs in to OAuth servers, keeps the sessions, and prints tokens for scripts.

  oauth-helper login URL      sign in, and keep the session
  oauth-helper token URL      print an access token, refreshed if necessary
  oauth-helper headers URL    print the header fields of a request, as JSON
  oauth-helper logout URL     revoke the tokens, and delete the session
  oauth-helper status         list the sessions
  oauth-helper doctor URL     say why a client cannot obtain a token

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

const SHARED = `\
  --account NAME          the session of this account, if there are several
  --key-command COMMAND   encrypt the session with the 32 bytes that COMMAND
                          prints as base64, for example from a password
                          manager; required with each command for this session
  -q, --quiet             print errors only, and what a sign-in needs
  -h, --help              print this`;

const SERVER = `\
  --client-id ID          use this client, and do not register one
  --client-secret-file F  the file with the client secret; requires --issuer
  --issuer URL            the authorization server that the client is registered
                          with
  --redirect-uri URI      the redirect URI that the client is registered with
                          (http://127.0.0.1:33418/callback, or another port)
  --scope SCOPES          scopes to request; repeatable
  --param NAME=VALUE      a parameter of the authorization request; repeatable
  --resource false        send no resource parameter
  --server-metadata FILE  JSON with issuer, authorization_endpoint and
                          token_endpoint, for an API that publishes no metadata
  --assume-pkce           use PKCE although the server does not list it
  --require-iss           refuse an authorization response that does not name
                          its server (RFC 9207)
  --trusted-issuer A=B    accept B as issuer in the metadata of server A;
                          repeatable
  --allow-http            accept http URLs that are not on loopback
  --no-input              exit with status 3 if a person has to sign in, before
                          a client is registered`;

const MIN_TTL = `\
  --min-ttl SECONDS       refresh a token that expires earlier, 60 by default;
                          a token with a shorter lifetime is used for three
                          quarters of it`;

const ASKING = `\
Signs in first if there is no session, but only where the standard error is a
terminal: elsewhere the exit status is 3.`;

const COMMANDS: Readonly<Record<SessionCommand, string>> = {
  login: `\
Signs in with the browser, keeps the session, and requests URL once with the
token: if it is refused, the exit status is 1.

  oauth-helper login [options] URL

  --device                sign in on another device, with a code
  --paste                 open no browser; the user pastes the URL of the last
                          page, if the browser is on another machine
  --fresh                 sign in even if there is a session
  --json                  print the session as JSON, without tokens
${SHARED}

${SERVER}

A valid session with the scopes of --scope is not replaced, unless URL refuses
its token. Errors name options
in camelCase: assumePkce is --assume-pkce.`,
  token: `\
Prints only the access token, refreshed if necessary. Without a session for URL,
it is that of the longest resource that has URL below its path.

  oauth-helper token [options] URL

  curl -H "Authorization: Bearer $(oauth-helper token URL)" URL

  --json                  print access_token, token_type and expires_at as JSON
${MIN_TTL}
${SHARED}

${SERVER}

${ASKING}`,
  headers: `\
Prints the header fields of a request as JSON, for hosts that run a helper.
Without a session for URL, they are those of the longest resource that has URL
below its path.

  oauth-helper headers [options] URL

  curl -H @<(oauth-helper headers --lines URL) URL

  --lines                 print a line for each header field in place of JSON
${MIN_TTL}
${SHARED}

${SERVER}

${ASKING}`,
  logout: `\
Revokes the tokens where the server can, and deletes the session. If the server
cannot be reached, the session is kept, and the exit status is 1.

  oauth-helper logout [options] URL

  --force                 delete the session even if the server cannot be
                          reached, or the file cannot be read
  --allow-http            accept http URLs that are not on loopback
${SHARED}`,
  status: `\
Lists the sessions, without tokens.

  oauth-helper status [options]

  --json                  print a list of objects: url, account, state (valid,
                          refreshable or ended), resource, issuer, client_id,
                          scopes, expires_at, has_refresh_token and
                          refresh_expires_at, in seconds since 1970; or file and
                          error, if a file cannot be read
${SHARED}`,
};

/** Returns the help of a command. */
export function helpOf(command: SessionCommand): string {
  return `${COMMANDS[command]}\n\n${ENDING}`;
}
