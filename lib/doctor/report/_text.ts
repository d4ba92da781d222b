import type {
  Diagnosis,
  DiagnosisAssumption,
  DiagnosisIss,
  DiagnosisOption,
  DiagnosisStep,
  FindingHint,
} from "../diagnosis.ts";
import { describeSeconds, keptAccessToken } from "../_facts.ts";
import { describeOption, isDecision } from "../_verdict.ts";
import type { DiagnosisToken } from "../sign_in/sign_in.ts";
import { escapeHtml } from "../../core/_quote.ts";

/**
 * Names the page about findings, if the repository's URL is known. The URL is on a
 * separate line, which a terminal shows as a link.
 */
export function findingsPage(repository: string | undefined): string[] {
  return repository === undefined
    ? [
      "The documentation of @oauth-helper/client describes each finding by its id.",
    ]
    : [
      "The impact of each finding, by its id:",
      `${repository}/blob/HEAD/.github/docs/findings.md`,
    ];
}

function describeToken(token: DiagnosisToken): string {
  const { token_type, scope, expires_in, refresh_expires_in } = token;
  return [
    token_type,
    expires_in === undefined
      ? "unknown lifetime"
      : `valid for ${describeSeconds(expires_in)}`,
    scope === undefined ? "no scope listed" : `scope ${scope}`,
    token.hasRefreshToken
      ? "refresh token" +
        (refresh_expires_in === undefined
          ? ""
          : ` valid for ${describeSeconds(refresh_expires_in)}`)
      : "no refresh token",
    ...(token.hasIdToken ? ["ID token"] : []),
  ].join(", ");
}

/** A report's words, for users of the library or of the command. */
export interface ReportWords {
  optionWords(option: DiagnosisOption): string;
  hintWords(hint: FindingHint): string;
}

export const LIBRARY_WORDS: ReportWords = {
  optionWords: describeOption,
  hintWords: ({ text }) => text,
};

/** Each once. */
export function hintsIn(
  hints: readonly FindingHint[] = [],
  { hintWords }: ReportWords,
): string[] {
  return [...new Set(hints.map(hintWords))];
}

export function assumptionsOf(
  assumed: readonly DiagnosisAssumption[],
): string {
  return assumed.map(({ finding, message }) => `${finding}: ${message}`)
    .join(" ");
}

const SOURCES = {
  option: "given",
  client_metadata_document: "its metadata document",
  registration: "registered",
};

const REVOCATIONS = {
  revoked: "done",
  refresh_token_only: "only the refresh token",
  without_effect: "without effect; the tokens may stay valid",
  failed: "failed; the tokens may stay valid",
  unsupported: "not offered; the tokens stay valid until they expire",
};

const ISS: Record<DiagnosisIss, string> = {
  promised: "promised in authorization responses",
  sent: "sent in the authorization response, although not promised",
  missing: "not sent; `requireIss` rejects such a response",
  unpromised: "not promised in authorization responses",
};

type Row = [name: string, text: string | undefined];

function signInRows({ signIn }: Diagnosis): Row[] {
  if (!signIn) return [];
  const { flow, client, token, callStatus, refresh, revocation } = signIn;
  return [
    [
      "Sign-in",
      flow === "code" ? "browser on this device" : "browser on another device",
    ],
    [
      "Client",
      client &&
      `${client.client_id} (${SOURCES[client.source]}${
        client.isDeleted ? ", and deleted" : ""
      })`,
    ],
    ["Token", token ? describeToken(token) : "none"],
    ["Call", callStatus === undefined ? undefined : `status ${callStatus}`],
    [
      "Refresh",
      refresh &&
      `${describeToken(refresh)}, ${
        refresh.isRotated ? "a new one" : "the same one"
      }`,
    ],
    [
      "Revocation",
      revocation && REVOCATIONS[revocation] +
        (revocation === "refresh_token_only"
          ? `; ${keptAccessToken(refresh ?? token)}`
          : ""),
    ],
  ];
}

/** Returns labels and values; omits rows without a value. */
export function factRows(
  diagnosis: Diagnosis,
  { optionWords }: ReportWords,
): [name: string, text: string][] {
  const { context, given, options } = diagnosis;
  const { resource, scopes, iss, webPages } = context ?? {};
  const isAssumed = context?.source === "fallback" &&
    context.serverMetadataUrl === undefined;
  const rows: Row[] = [
    ["Issuer", context && context.issuer + (isAssumed ? " (assumed)" : "")],
    ["Resource", resource],
    [
      "Scopes",
      resource && (scopes?.slice(0, 20).join(" ") ?? "omitted"),
    ],
    ["iss", iss && ISS[iss]],
    [
      "Web pages",
      !context || isAssumed
        ? undefined
        : webPages === undefined
        ? "not tried; `--browser` tries whether a page can be the client"
        : webPages === "with_client"
        ? "can be the client, with a client id"
        : webPages
        ? "can be the client"
        : "cannot be the client",
    ],
    ["Given", given?.map(optionWords).join(", ")],
    ...signInRows(diagnosis),
    [
      "Options",
      options?.map((option) =>
        // The finding shows its value with a caution.
        optionWords(isDecision(option) ? { name: option.name } : option)
      ).join(", "),
    ],
  ];
  return rows.flatMap(([name, text]) =>
    text === undefined ? [] : [[name, text]]
  );
}

/** Requests with the same result, one after the other. */
export interface JoinedStep {
  readonly step: DiagnosisStep;
  /** Their indices in the list of steps. */
  readonly indices: readonly number[];
}

/** Joins repeated requests, such as a device flow's polls. */
export function joinSteps(steps: readonly DiagnosisStep[]): JoinedStep[] {
  const joined: { step: DiagnosisStep; indices: number[] }[] = [];
  const stepKey = ({ name, url, status, result }: DiagnosisStep) =>
    [name, url, status, result].join(" ");
  for (const [index, step] of steps.entries()) {
    const last = joined.at(-1);
    const isSame = last && stepKey(last.step) === stepKey(step);
    if (isSame) last.indices.push(index);
    else joined.push({ step, indices: [index] });
  }
  return joined;
}

/** Escapes a sentence, and marks text between backquotes as code. */
export function proseHtml(text: string): string {
  return text.split(/(`[^`]+`)/).map((part) =>
    /^`[^`]+`$/.test(part)
      ? `<code>${escapeHtml(part.slice(1, -1))}</code>`
      : escapeHtml(part)
  ).join("");
}

/** Cuts the middle of a text. */
export function fit(text: string, width: number): string {
  if (text.length <= width) return text;
  const start = Math.ceil((width - 1) / 2);
  return `${text.slice(0, start)}…${text.slice(start + 1 - width)}`;
}

/** Formats a duration, with at most one digit after the point. */
export const describeTime = (ms: number) =>
  ms < 999.5 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
