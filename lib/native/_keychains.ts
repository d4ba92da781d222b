/** The platforms' keychains, by their own commands. */

import { win32 } from "node:path";
import { printable } from "../core/_quote.ts";
import { OAuthClientError } from "../core/errors.ts";

export interface KeychainItem {
  readonly service: string;
  readonly account: string;
}

export interface Ending {
  readonly status: number;
  readonly output: string;
  readonly errors: string;
}

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command; rejects if it cannot be started. */
export type RunCommand = (command: Command) => Promise<Ending>;

/** In hexadecimal, because keychains keep text. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function unusable(what: string, fix: string): OAuthClientError {
  const shown = printable(what);
  const message = `The key cannot be read from the keychain: ${shown} (${fix})`;
  return new OAuthClientError("unsupported", message);
}

const OTHERWISE = "or pass `key` as 32 bytes";

/**
 * Runs a keychain's command. If it is missing, the error names the package to install.
 */
async function start(
  run: RunCommand,
  command: Command,
  install: string,
): Promise<Ending> {
  try {
    return await run(command);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const what = `${command.program} cannot be started: ${message}`;
    throw unusable(what, `${install}, ${OTHERWISE}`);
  }
}

/** Linux and others: the Secret Service, by `secret-tool` of libsecret. */
async function inSecretService(
  run: RunCommand,
  { service, account }: KeychainItem,
): Promise<string> {
  const attributes = ["service", service, "account", account];
  const tool = (args: string[], input?: string) =>
    start(
      run,
      {
        program: "secret-tool",
        args: [...args, ...attributes],
        ...input !== undefined && { input },
      },
      "install libsecret-tools, or libsecret where the package has that name",
    );
  const failed = (errors: string) =>
    unusable(
      errors.trim() || "secret-tool has found no keyring",
      "unlock the keyring, or install gnome-keyring or KWallet, " + OTHERWISE,
    );
  const lookup = async () => {
    const { status, output, errors } = await tool(["lookup"]);
    if (status !== 0 && errors) throw failed(errors);
    return status === 0 ? output.trim() : "";
  };
  const found = await lookup();
  if (found) return found;
  // A lookup finds nothing in a locked keyring; a search lists its content.
  const { output } = await tool(["search", "--all"]);
  if (output.trim()) throw failed("the keyring is locked");
  const label = `--label=${service}`;
  const stored = await tool(["store", label], newKey());
  if (stored.status !== 0) throw failed(stored.errors);
  // Another process may have stored another key at the same moment.
  return await lookup();
}

/** The exit status of `errSecItemNotFound`. */
const NOT_FOUND_ON_MACOS = 44;

/** macOS: the login keychain, by `security`. */
async function inMacOs(
  run: RunCommand,
  { service, account }: KeychainItem,
): Promise<string> {
  const security = (args: string[], input?: string) =>
    start(
      run,
      { program: "security", args, ...input !== undefined && { input } },
      "run the program in a session with a login keychain",
    );
  const item = ["-s", service, "-a", account];
  const find = () => security(["find-generic-password", ...item, "-w"]);
  let found = await find();
  if (found.status === NOT_FOUND_ON_MACOS) {
    // As input, because other users can read arguments. It fails if another process has
    // stored a key, which is then found.
    const line = `add-generic-password -s "${service}" -a "${account}" -w ` +
      newKey();
    await security(["-i"], `${line}\n`);
    found = await find();
  }
  if (found.status === 0) return found.output.trim();
  throw unusable(
    found.errors.trim() || `security ended with status ${found.status}`,
    `unlock the login keychain, ${OTHERWISE}`,
  );
}

/**
 * Windows' vault (Credential Manager) by Windows PowerShell 5.1. The script creates the
 * key, so no argument contains it.
 */
const WINDOWS_SCRIPT = `$ErrorActionPreference = "Stop"
[void][Windows.Security.Credentials.PasswordVault,Windows.Security.Credentials,ContentType=WindowsRuntime]
$vault = New-Object Windows.Security.Credentials.PasswordVault
$service = $env:OAUTH_HELPER_SERVICE
$account = $env:OAUTH_HELPER_ACCOUNT
function Find { $one = $vault.Retrieve($service, $account); $one.RetrievePassword(); $one.Password }
try { $key = Find } catch {
  $cause = $_.Exception
  while ($cause.InnerException) { $cause = $cause.InnerException }
  if ($cause.HResult -ne -2147023728) { throw }
  $bytes = New-Object byte[] 32
  [Security.Cryptography.RandomNumberGenerator]::Create().GetBytes($bytes)
  $new = -join ($bytes | ForEach-Object { $_.ToString("x2") })
  $vault.Add((New-Object Windows.Security.Credentials.PasswordCredential($service, $account, $new)))
  $key = Find
}
[Console]::Out.Write($key)
`;

/** PowerShell expects Base64 of UTF-16, little-endian. */
function encode(script: string): string {
  const units = Array.from(script, (one) => one.charCodeAt(0));
  const bytes = units.flatMap((unit) => [unit & 0xff, unit >> 8]);
  return btoa(String.fromCharCode(...bytes));
}

async function inWindows(
  run: RunCommand,
  { service, account }: KeychainItem,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  // By its path: Windows looks up a name in the current directory first.
  const root = env.SystemRoot ?? "C:\\Windows";
  const folder = win32.join(root, "System32", "WindowsPowerShell", "v1.0");
  const command = {
    program: win32.join(folder, "powershell.exe"),
    // Otherwise, errors are XML.
    args: ["-NoProfile", "-NonInteractive", "-OutputFormat", "Text"]
      .concat("-EncodedCommand", encode(WINDOWS_SCRIPT)),
    env: { OAUTH_HELPER_SERVICE: service, OAUTH_HELPER_ACCOUNT: account },
  };
  const { status, output, errors } = await start(
    run,
    command,
    "install Windows PowerShell 5.1",
  );
  if (status === 0 && output.trim()) return output.trim();
  throw unusable(
    errors.trim() || `PowerShell ended with status ${status}`,
    `run the program as a user with a profile, ${OTHERWISE}`,
  );
}

/** Returns an item's key in hexadecimal, and creates a missing one. */
export async function readKeychain(
  item: KeychainItem,
  { run, platform, env }: {
    readonly run: RunCommand;
    readonly platform: string;
    readonly env: Readonly<Record<string, string | undefined>>;
  },
): Promise<string> {
  if (platform === "darwin") return await inMacOs(run, item);
  if (platform === "win32") return await inWindows(run, item, env);
  return await inSecretService(run, item);
}

export function keyFromHex(
  hex: string,
  { service, account }: KeychainItem,
): Uint8Array {
  if (!/^[0-9a-f]{64}$/i.test(hex)) {
    throw unusable(
      `the item "${account}" of "${service}" is no key of 32 bytes`,
      "set another service or account, " + OTHERWISE,
    );
  }
  return Uint8Array.from(hex.match(/../g)!, (byte) => parseInt(byte, 16));
}
