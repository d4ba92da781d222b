/** How an operation makes its errors once it has sent something. */

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

/**
 * What a message quotes: text, a URL, JSON, a number, or parts of a message. Hints
 * stand at the end of the message.
 */
export type Quoted =
  | string
  | number
  | { readonly url: unknown }
  | { readonly refusedUrl: unknown }
  | { readonly json: unknown }
  | readonly Hint[]
  | Message;

/** A message in parts: our own words, which stay as they are, and what it quotes. */
export interface Message {
  readonly words: readonly string[];
  readonly quoted: readonly Quoted[];
}

/** Returns a message; what it quotes is cleaned when an error is made of it. */
export function words(
  words: readonly string[],
  ...quoted: readonly Quoted[]
): Message {
  return { words, quoted };
}

/** Returns a message of our own words alone. */
export function literal(text: string): Message {
  return words([text]);
}

/** Returns one message for a list of what it quotes. */
export function joined(
  quoted: readonly Quoted[],
  separator: string,
): Message {
  return words(["", ...quoted.slice(1).map(() => separator), ""], ...quoted);
}

/** Returns a message about a URL that is not used. */
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

/** Returns the hints in a message, in their order. */
function hintsIn({ quoted = [] }: Partial<Message>): Hint[] {
  return quoted.flatMap((one) =>
    Array.isArray(one) ? one : hintsIn(Object(one))
  );
}

/** Fails unless a request may be sent to a URL that comes from a server. */
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
 * Makes an error that repeats nothing that was sent. An error is clean when it is made,
 * as its stack keeps the first message.
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
