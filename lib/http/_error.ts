/** How an operation makes errors after it has sent something. */

import { hinted } from "../core/_hints.ts";
import { quote, quoteJson } from "../core/_quote.ts";
import {
  quoteRefusedUrl,
  quoteUrl,
  type UrlProblem,
  urlProblem,
  type UrlRules,
} from "../core/_url.ts";
import type {
  Hint,
  OAuthClientError,
  OAuthClientErrorCode,
  OAuthClientErrorDetails,
} from "../core/errors.ts";
import { type Context, secretsIn } from "./_context.ts";

/** A value that a message quotes. Hints appear at the end of the message. */
export type Quoted =
  | string
  | number
  | { readonly url: unknown }
  | { readonly refusedUrl: unknown }
  | { readonly json: unknown }
  | readonly Hint[]
  | Message;

/** A message in parts: the library's words, which stay unchanged, and quoted values. */
export interface Message {
  readonly words: readonly string[];
  readonly quoted: readonly Quoted[];
}

/** Quoted values are cleaned when an error is made. */
export function words(
  words: readonly string[],
  ...quoted: readonly Quoted[]
): Message {
  return { words, quoted };
}

export function literal(text: string): Message {
  return words([text]);
}

export function joined(
  quoted: readonly Quoted[],
  separator: string,
): Message {
  return words(["", ...quoted.slice(1).map(() => separator), ""], ...quoted);
}

export function unusedUrl(
  name: string,
  refusedUrl: unknown,
  [expected, ...hints]: UrlProblem,
): Message {
  const problem = literal(`${name} must be ${expected}`);
  return words`Refusing ${{ refusedUrl }}: ${problem}${hints}`;
}

function shown(one: Quoted, secrets: readonly string[]): string {
  if (typeof one === "string") return quote(one, secrets);
  if (typeof one === "number") return `${one}`;
  if ("url" in one) return quoteUrl(one.url, secrets);
  if ("refusedUrl" in one) return quoteRefusedUrl(one.refusedUrl, secrets);
  if ("json" in one) return quoteJson(one.json, secrets);
  return "words" in one ? textOf(one, secrets) : "";
}

function textOf(
  { words, quoted }: Message,
  secrets: readonly string[],
): string {
  const [first = "", ...further] = words;
  return quoted.reduce<string>(
    (text, one, index) => text + shown(one, secrets) + (further[index] ?? ""),
    first,
  );
}

function hintsIn({ quoted = [] }: Partial<Message>): Hint[] {
  return quoted.flatMap((one) =>
    Array.isArray(one) ? one : hintsIn(Object(one))
  );
}

export function requireUrl(
  context: Pick<Context, "sent">,
  name: string,
  url: string,
  rules: UrlRules,
): void {
  const problem = urlProblem(url, rules);
  if (!problem) return;
  throw errorOf(context, "url_refused", unusedUrl(name, url, problem));
}

/**
 * Makes an error that repeats no sent value. The error must be clean at once, because
 * its stack keeps the first message.
 */
export function errorOf(
  context: Pick<Context, "sent">,
  code: OAuthClientErrorCode,
  message: Message,
  { url, ...details }: OAuthClientErrorDetails = {},
): OAuthClientError {
  const secrets = secretsIn(context);
  return hinted(code, textOf(message, secrets), hintsIn(message), {
    ...(url !== undefined && { url: quoteUrl(url, secrets) }),
    ...details,
  });
}
