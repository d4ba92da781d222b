import { isMembers } from "../../core/_members.ts";
import { printable } from "../../core/_quote.ts";
import { describeOption, isDecision } from "../_verdict.ts";
import type {
  Diagnosis,
  DiagnosisOption,
  DiagnosisOptionName,
} from "../diagnosis.ts";

const ARGUMENTS: Readonly<
  Record<
    DiagnosisOptionName,
    readonly [name: string, value?: string] | undefined
  >
> = {
  allowHttp: ["--allow-http"],
  assumePkce: ["--assume-pkce"],
  client: ["--client-id", "ID"],
  clientMetadataUrl: ["--client-metadata", "URL"],
  serverMetadata: ["--server-metadata", "FILE"],
  trustedIssuers: ["--trusted-issuer"],
  // The doctor sets it itself.
  resourceIndicator: undefined,
  dpop: undefined,
  tokenRequired: undefined,
};

function quoted(argument: string): string {
  return /^[\w:/.@=-]+$/.test(argument)
    ? argument
    : `'${argument.replaceAll("'", "'\\''")}'`;
}

/** Returns an option's arguments, without a value that only the user knows. */
function namesOf({ name, value }: DiagnosisOption): string[] {
  const [option] = ARGUMENTS[name] ?? [];
  if (option === undefined) return [];
  return isMembers(value)
    ? Object.entries(value).map(([named, claimed]) =>
      `${option} ${quoted(`${named}=${claimed}`)}`
    )
    : [option];
}

/** Writes an option as the program's argument, or as in a program of the library. */
export function describeArgument(option: DiagnosisOption): string {
  const names = namesOf(option);
  return names.length > 0
    ? names.map((one) => `\`${one}\``).join(", ")
    : describeOption(option);
}

/** Returns an option's arguments, with a placeholder for a value. */
function argumentsOf(option: DiagnosisOption): string[] {
  const [, placeholder] = ARGUMENTS[option.name] ?? [];
  return namesOf(option)
    .map((one) => placeholder === undefined ? one : `${one} ${placeholder}`);
}

/**
 * Returns the command for the untested parts; none if a user must first decide who may
 * receive a token.
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
