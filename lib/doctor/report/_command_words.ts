/** A diagnosis in the words of the program, whose options have other names. */

import { isMembers } from "../../core/_members.ts";
import { printable } from "../../core/_quote.ts";
import { isDecision } from "../_verdict.ts";
import type { Diagnosis, DiagnosisOption } from "../diagnosis.ts";

/** What the program accepts instead of an option of the library, and its value. */
const NAMES: Readonly<Record<string, string>> = {
  allowHttp: "--allow-http",
  assumePkce: "--assume-pkce",
  client: "--client-id ID",
  clientMetadataUrl: "--client-metadata URL",
  clientSecretPost: "--client-secret-post",
  parameters: "--param",
  resource: "--resource",
  scopes: "--scope",
  serverMetadata: "--server-metadata FILE",
  timeoutMs: "--timeout",
  trustedIssuers: "--trusted-issuer",
};

/** Options of the library whose only value is the presence of the option. */
const FLAG = /^(allowHttp|assumePkce)(: true)?$/;

/** Returns one argument for a shell. */
function quoted(argument: string): string {
  return /^[\w:/.@=-]+$/.test(argument)
    ? argument
    : `'${argument.replaceAll("'", "'\\''")}'`;
}

/** Returns an option as it is written in a program, as one of the command. */
function spelled(code: string): string | undefined {
  const [, name = "", value] = /^(\w+)(?:: (.*))?$/s.exec(code) ?? [];
  if (!Object.hasOwn(NAMES, name)) return undefined;
  const [option] = NAMES[name]?.split(" ") ?? [];
  // For a web page, where there is no command.
  if (name === "client" && value !== undefined) return undefined;
  // The parameter of the protocol, unless it has a value.
  if (name === "resourceIndicator" && value === undefined) return undefined;
  if (value === undefined || FLAG.test(code)) return option;
  const [, named, claimed] = /^\{ "(.*)": "(.*)" \}$/.exec(value) ?? [];
  return claimed === undefined
    ? `${option} ${value}`
    : `${option} ${quoted(`${named}=${claimed}`)}`;
}

/** Replaces the options of the library in a sentence by the options of the command. */
export function inCommandWords(text: string): string {
  let isChanged = false;
  const words = text.replace(/`([^`]+)`/g, (whole, code) => {
    const option = spelled(code);
    isChanged ||= option !== undefined;
    return option === undefined ? whole : `\`${option}\``;
  });
  return isChanged
    ? words.replace("With this library", "With `oauth-helper`")
      .replace(/This library (continues|then also)/, "`oauth-helper` $1")
    : text;
}

/** Returns the arguments that an option needs, if the command has it. */
function argumentsOf({ name, value }: DiagnosisOption): string[] {
  // The doctor sets `resource` itself.
  const option = name === "resourceIndicator" ? undefined : NAMES[name];
  if (option === undefined) return [];
  return isMembers(value)
    ? Object.entries(value).map(([named, claimed]) =>
      `${option} ${quoted(`${named}=${claimed}`)}`
    )
    : [option];
}

/**
 * Returns the command that tries what a diagnosis has not tried; none where a user has
 * to decide first who may receive a token.
 */
export function commandFor(
  { target, verdict, options = [], given = [], notTried = [] }: Diagnosis,
): string | undefined {
  const canSignIn = ["ready", "needs_client", "needs_option"].includes(verdict);
  if (!canSignIn || notTried.length === 0 || options.some(isDecision)) {
    return undefined;
  }
  return printable([
    "oauth-helper doctor --sign-in",
    ...new Set([...given, ...options].flatMap(argumentsOf)),
    quoted(target),
  ].join(" "));
}
