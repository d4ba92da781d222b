import { isMembers } from "../core/_members.ts";
import type { FindingHint, FindingHintOption } from "../doctor/diagnosis.ts";
import { shellWord } from "./_next_commands.ts";

type Words = string | ((value: FindingHint["value"]) => string);

function trustedWords(value: FindingHint["value"]): string {
  const pairs = Object.entries(isMembers(value) ? value : {})
    .map(([named, claimed]) => ` ${shellWord(`${named}=${claimed}`)}`);
  return "this could be an attack: only if both are the same server, use " +
    `--trusted-issuer${pairs.join("")}`;
}

/**
 * The command's words for a hint's option; undefined if the command lacks the option,
 * or sets it itself.
 */
export const HINT_WORDS: Readonly<
  Record<FindingHintOption, Words | undefined>
> = {
  allowHttp: "use --allow-http, on a network that no one else can read",
  assumePkce: "use --assume-pkce if it is known to support PKCE",
  authorizationServer:
    "use --server-metadata of the right server, and --resource if a gateway " +
    "gives the API another name",
  bearer: "use --id-token if the API wants the ID token",
  client: "use --client-id with a client that the operator has registered",
  clientCredentialsFlow: "use --client-credentials if no user is needed",
  clientMetadataUrl:
    "use --client-metadata-url with your client metadata document",
  clientSecretBasic: "client_secret was in the body: omit --client-secret-post",
  clientSecretPost: "client_secret was in the header: try --client-secret-post",
  codeFlow: "omit --device",
  deviceFlow: "use --device",
  dpop: "only the library supports DPoP",
  formEncode: "servers differ in how they decode such credentials",
  fresh: "use --fresh",
  initialAccessToken:
    "the server may require an initial access token, which may have expired: " +
    "use --initial-access-token-file",
  key: "pass the --key-command that it was saved with, or none",
  now: "correct the clock",
  parameters: "use --param",
  port: "use --redirect-uri with a port that the client is registered with",
  privateKeyJwt: "use --key-file with a key that the server knows",
  resourceIndicator: (value) =>
    typeof value === "string"
      ? `use ${shellWord(`--resource=${value}`)}`
      : value === false
      ? "if the server rejects the parameter resource, use --resource=false"
      : "use --resource",
  scopes: "use --scope with scopes that the server grants",
  serverMetadata: "use --server-metadata with what its docs say",
  timeoutMs: "use a longer --timeout",
  trustedIssuers: trustedWords,
  userAgent: "use --user-agent",
  // It registers its client itself, unless the server does not.
  clientMetadata: undefined,
  // It always uses a flow, and pushes the request if the server supports that.
  flow: undefined,
  par: undefined,
  // It uses other grants, and deletes no registration.
  assumeProfile: undefined,
  registrationEndpoint: undefined,
  // For a program's calls and refreshes.
  sendScopeOnRefresh: undefined,
  tokenRequired: undefined,
};

/** Returns a hint in the command's words, if the command has the option. */
export function wordsOfHint(
  { option, value }: FindingHint,
): string | undefined {
  const words = HINT_WORDS[option];
  return typeof words === "function" ? words(value) : words;
}

/** Returns an error's hints in the command's words, each once. */
export function wordsOfHints(hints: readonly FindingHint[] = []): string[] {
  return [...new Set(hints.flatMap((hint) => wordsOfHint(hint) ?? []))];
}
