import { isMembers } from "../core/_members.ts";
import {
  clientKindOf,
  type Facts,
  isAssumed,
  isLost,
  isOpen,
  isStillValid,
  keptAccessToken,
  shown,
} from "./_facts.ts";
import { isOfTrust } from "./_assumptions.ts";
import type {
  DiagnosisAssumption,
  DiagnosisOption,
  DiagnosisOptionName,
  DiagnosisVerdict,
  Finding,
} from "./diagnosis.ts";

/** Checks whether a client without any options stops. */
export function isError({ severity }: Finding): boolean {
  return severity === "error";
}

/** Checks whether a client stops, unless its caller knows an option's value. */
export function isStopping({ severity, options }: Finding): boolean {
  return severity === "error" &&
    !options?.every(({ value }) => value === undefined);
}

const OPTIONS = {
  register: undefined,
  ask_user: "client",
  client_metadata_document: "clientMetadataUrl",
} as const;

/**
 * Returns the options of findings, and those that name a client: each once. After a
 * successful sign-in, no other client is needed.
 */
export function optionsOf(
  facts: Facts,
  findings: readonly Finding[],
  others: readonly DiagnosisOption[] = [],
): DiagnosisOption[] {
  const { options: { client: given } } = facts;
  const needsClient = facts.context && !facts.signIn?.client && !given &&
    !(isOpen(facts) && isAssumed(facts));
  const name = needsClient ? OPTIONS[clientKindOf(facts)] : undefined;
  const all: DiagnosisOption[] = [
    ...others,
    ...findings.flatMap(({ options = [] }) => options),
    ...(name ? [{ name }] : []),
  ];
  return [...new Map(all.map((option) => [option.name, option])).values()]
    .filter(({ name }) =>
      !facts.signIn?.session || !Object.values<unknown>(OPTIONS).includes(name)
    );
}

function isTried({ exchanges, signIn }: Facts, endpoint: string): boolean {
  const step = endpoint.replace(/(_request)?_endpoint$/, "");
  const isRequested = exchanges.some(({ name }) => name === step);
  // Without a response, the user may not have opened it.
  return isRequested &&
    (step !== "authorization" || signIn?.callback !== undefined);
}

/** Describes the sign-in's result, for users of the library and for the operator. */
function signInWords({ context, signIn, isServer }: Facts): string[] {
  if (!signIn?.session) return [];
  const { call, refresh, revocation, deletion } = signIn;
  const uses = [
    ...(isServer || !call?.response ? [] : [
      call.response.ok
        ? "the resource accepts the token"
        : `the resource responds to the token with ${call.response.status}`,
    ]),
    ...(refresh?.session ? ["the refresh succeeds"] : []),
  ];
  const issuer = shown(context?.issuer);
  return [
    `A user has signed in at ${issuer}` +
    (signIn.isClientGiven ? " with the client that was given" : "") +
    `${uses.length > 0 ? ": " : ""}${uses.join(", and ")}.`,
    revocation?.error || isStillValid(signIn)
      ? "The tokens of this diagnosis are not revoked."
      : revocation?.kept
      ? `Its refresh token is revoked; ${keptAccessToken(revocation.kept)}.`
      : "Its tokens are revoked.",
    ...(deletion && !deletion.error ? ["Its client is deleted."] : []),
  ];
}

/** Returns the endpoints that a sign-in uses and the diagnosis did not. */
export function notTriedOf(facts: Facts): string[] | undefined {
  const { context, signIn } = facts;
  if (!context || (isOpen(facts) && isAssumed(facts))) return undefined;
  const server = context.serverMetadata;
  const isPushed = server.require_pushed_authorization_requests === true;
  const hasCodeFlow = Boolean(server.authorization_endpoint);
  const used = {
    registration_endpoint: clientKindOf(facts) === "register" &&
      !signIn?.isClientGiven && !facts.options.client,
    pushed_authorization_request_endpoint: isPushed,
    authorization_endpoint: hasCodeFlow,
    device_authorization_endpoint: !hasCodeFlow &&
      server.device_authorization_endpoint !== undefined,
    token_endpoint: Boolean(server.token_endpoint),
  };
  return Object.entries(used)
    .filter(([name, isUsed]) => isUsed && !isTried(facts, name))
    .map(([name]) => name);
}

/** Returns the verdict, by the errors that remain with the options. */
export function verdictOf(
  facts: Facts,
  errors: readonly Finding[],
  options: readonly DiagnosisOption[],
): DiagnosisVerdict {
  const { probe } = facts;
  if (errors.length > 0) {
    const isSilent = probe.error !== undefined && !facts.isServer &&
      ["network_error", "timeout"].includes(probe.error.code);
    return isSilent ? "unreachable" : "broken";
  }
  const { length } = options.filter(({ name }) => name === "tokenRequired");
  if (isOpen(facts) && length === 0) return "open";
  if (options.length === 0) return "ready";
  return options.every(({ name }) => name === "client")
    ? "needs_client"
    : "needs_option";
}

export function describeOption({ name, value }: DiagnosisOption): string {
  if (value === undefined) return `\`${name}\``;
  const text = isMembers(value)
    ? `{ ${
      Object.entries(value).map(([from, to]) =>
        `"${shown(from)}": "${shown(to)}"`
      ).join(", ")
    } }`
    : String(value);
  return `\`${name}: ${text}\``;
}

/**
 * Options that select who receives codes and tokens. A user sets them after reading the
 * findings: no command and no proposal contains their value.
 */
const DECISIONS: readonly string[] = ["allowHttp", "trustedIssuers"];

export const isDecision = ({ name }: DiagnosisOption): boolean =>
  DECISIONS.includes(name);

function joined(parts: readonly string[]): string {
  const last = parts.at(-1) ?? "";
  return parts.length > 1
    ? `${parts.slice(0, -1).join(", ")} and ${last}`
    : last;
}

/**
 * Warns about a server that claims another's identity; only its user can judge that.
 */
const CAUTION =
  "A server that claims another server's identity may be trying to steal " +
  "codes and tokens. Only if you know that both are the same server, trust " +
  "the claimed issuer.";

/** The conditions under which a client continues, without option names. */
const CONDITIONS: Readonly<
  Record<DiagnosisOptionName, (operator: string) => string>
> = {
  allowHttp: () => "accepts http or loopback",
  assumePkce: () => "assumes that PKCE is supported",
  client: (operator) => `has a client ID from the operator of ${operator}`,
  clientMetadataUrl: () => "has a client metadata document",
  dpop: () => "binds its tokens to a key (DPoP)",
  resourceIndicator: () => "omits the parameter `resource`",
  serverMetadata: () => "has the server's metadata from its documentation",
  tokenRequired: () => "obtains a token before its first call",
  trustedIssuers: () => "trusts the claimed issuer",
};

/**
 * Returns the options with which a client continues; options about trust are no advice.
 */
function continuation(
  facts: Facts,
  options: readonly DiagnosisOption[],
): string {
  const others = options.filter(({ name }) => name !== "trustedIssuers");
  const isTrusted = others.length < options.length;
  const operator = isLost(facts) ? "the API" : shown(facts.context?.issuer);
  const conditions = joined(
    others.map(({ name }) => CONDITIONS[name](operator)),
  );
  const isUnnamed = isAssumed(facts) &&
    options.some(({ name }) => name === "serverMetadata");
  return [
    ...(isTrusted ? [CAUTION] : []),
    ...(conditions === "" ? [] : [
      isTrusted
        ? `A client that trusts it continues if it also ${conditions}.`
        : `A client continues if it ${conditions}.`,
    ]),
    ...(isUnnamed
      ? ["If the server publishes metadata, its URL is enough."]
      : []),
  ].join(" ");
}

/** Returns the sentences of a verdict with which a client continues. */
function outlook(
  facts: Facts,
  verdict: DiagnosisVerdict,
  options: readonly DiagnosisOption[],
): string {
  const { context, target } = facts;
  const issuer = shown(context?.issuer);
  const { method } = facts.probe;
  const open = context && !isAssumed(facts)
    ? `This ${method} requires no token. Other requests may: ${
      shown(target.host)
    } lists ${issuer}.`
    : `This ${method} requires no token; other requests may.`;
  switch (verdict) {
    case "open":
      return open;
    case "needs_client":
    case "needs_option":
      return (isOpen(facts) ? `${open} ` : "") +
        (isLost(facts) ? "The authorization server is not known. " : "") +
        continuation(facts, options);
  }
  if (facts.signIn?.session) return "";
  return isAssumed(facts)
    ? `No metadata of a server is published, so a client assumes the endpoints of ${issuer}.`
    : `The metadata of ${issuer} contains all that a client needs.`;
}

const HIDDEN =
  "If the API hides its resources from requests without a token, a client " +
  "has to know the authorization server and obtain a token before its first call.";

/** Checks whether an API that publishes nothing may hide the resource. */
function mayHide(facts: Facts, first: Finding | undefined): boolean {
  const { context, probe: { response } } = facts;
  return first?.id === "target_not_found" && response?.status === 404 &&
    (!context || isAssumed(facts));
}

export function summaryOf(
  facts: Facts,
  verdict: DiagnosisVerdict,
  { errors, assumed, options, notTried = [], isLeftOut }: {
    isLeftOut: boolean;
    assumed: readonly DiagnosisAssumption[];
    errors: readonly Finding[];
    options: readonly DiagnosisOption[];
    notTried: readonly string[] | undefined;
  },
): string {
  const [first] = errors;
  if (verdict === "unreachable") return first?.message ?? "";
  if (verdict === "broken") {
    const words = `A client stops. ${first?.message ?? ""}` +
      (mayHide(facts, first) ? ` ${HIDDEN}` : "");
    if (!facts.options.signIn || facts.signIn) return words;
    return `${words} No sign-in is tried` +
      (assumed.some(isOfTrust)
        ? ": who would receive it is only assumed."
        : ".");
  }
  const names = notTried.map((name) => name.replaceAll("_", " "));
  return [
    ...(facts.isServer
      ? ["The URL is an authorization server, not a resource."]
      : []),
    outlook(facts, verdict, options),
    ...signInWords(facts),
    ...(names.length > 0 && verdict !== "open"
      ? [`Not tried: ${names.join(", ")}.`]
      : []),
    ...(isLeftOut
      ? [
        "No sign-in is tried until you set these options: they decide who " +
        "receives what is sent.",
      ]
      : []),
  ].filter(Boolean).join(" ");
}
