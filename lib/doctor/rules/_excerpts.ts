import type { Members } from "../../core/_members.ts";
import { parseUrl } from "../../core/_url.ts";
import {
  documentOf,
  type Facts,
  membersOf,
  shown,
  shownText,
} from "../_facts.ts";
import type { Exchange } from "../_recorder.ts";
import { isOfSignIn, publicPartsOf } from "../sign_in/_steps.ts";

const MAX_CHARACTERS = 700;
const MAX_BODY = 240;
const MAX_ITEMS = 8;

/**
 * Returns the exchange that shows a finding about a URL. Skips sign-ins' exchanges,
 * which use the same URLs for other reasons. For the resource, it is the probe's
 * exchange.
 */
export function exchangeFor(
  { exchanges, probe }: Facts,
  url: string | undefined,
): Exchange | undefined {
  const href = url === undefined ? undefined : parseUrl(url)?.href;
  const found = exchanges.filter((one) =>
    !isOfSignIn(one) &&
    (one.url === url ||
      (href !== undefined && parseUrl(one.url)?.href === href))
  );
  const fits = found.filter(({ name, method }) =>
    name !== "cors" && (name !== "resource" || method === probe.method)
  );
  return fits.at(-1) ?? found.at(-1);
}

/** Cuts values, so that lists of a hundred scopes stay readable. */
function cutValue(value: unknown): unknown {
  if (typeof value === "string") return shownText(value, 200);
  if (!Array.isArray(value)) return value;
  const more = value.length - MAX_ITEMS;
  return [
    ...value.slice(0, MAX_ITEMS).map(cutValue),
    ...(more > 0 ? [`… ${more} more`] : []),
  ];
}

/** Writes members as JSON; the names of absent ones follow. */
function jsonOf(members: Members, names: readonly string[]): string {
  const present = names.filter((name) => members[name] !== undefined);
  const absent = names.filter((name) => members[name] === undefined);
  let json: string;
  try {
    json = JSON.stringify(
      Object.fromEntries(
        present.map((name) => [name, cutValue(members[name])]),
      ),
      null,
      2,
    );
  } catch {
    json = "JSON nested too deeply";
  }
  return [
    ...(present.length > 0 ? [json] : []),
    ...absent.map((name) => `"${name}" is absent`),
  ].join("\n");
}

const FIELDS = ["content-type", "location", "retry-after", "www-authenticate"];

function headOf({ response, isFailed }: Exchange): string[] {
  if (!response) return [isFailed ? "No response" : ""].filter(Boolean);
  const fields = FIELDS.flatMap((name) => {
    const value = response.headers?.get(name);
    return typeof value === "string" ? [`${name}: ${shown(value, 300)}`] : [];
  });
  return [`HTTP status ${response.status}`, ...fields];
}

/**
 * Returns the part of a response that shows a finding: these members, or all of a
 * sign-in's response; otherwise the header fields and the body.
 */
export function excerptOf(
  facts: Facts,
  shows: readonly string[] | undefined,
  exchange: Exchange,
): string | undefined {
  const document = documentOf(facts, exchange);
  const members = document && membersOf(document);
  const { received } = publicPartsOf(exchange);
  const json = received ?? members;
  const names = shows ?? Object.keys(received ?? {});
  const body = json
    ? names.length > 0 ? jsonOf(json, names) : undefined
    : shownText(exchange.text ?? "", MAX_BODY);
  const lines = members && body
    ? [body]
    : [...headOf(exchange), ...(body ? ["", body] : [])];
  const excerpt = lines.join("\n").trim();
  return excerpt.length > MAX_CHARACTERS
    ? `${excerpt.slice(0, MAX_CHARACTERS)}…`
    : excerpt || undefined;
}
