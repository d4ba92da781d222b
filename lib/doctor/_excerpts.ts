/** The part of a response that shows a finding. */

import type { Members } from "../core/_members.ts";
import { isWebUrl, parseUrl } from "../core/_url.ts";
import {
  allDocuments,
  type IFacts,
  membersOf,
  shown,
  shownText,
} from "./_facts.ts";
import type { IExchange } from "./_recorder.ts";
import { isOfSignIn, publicPartsOf } from "./_sign_in_steps.ts";

const MAX_CHARACTERS = 700;
const MAX_BODY = 240;
const MAX_ITEMS = 8;

const METHODS = "token_endpoint_auth_methods_supported";
const REGISTRATION = [
  "registration_endpoint",
  "client_id_metadata_document_supported",
];

/** The members of metadata that show a finding. An empty list: the header fields show it. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  auth_methods_need_key: [METHODS],
  authorization_server_refused: ["authorization_servers"],
  authorization_servers_malformed: ["authorization_servers"],
  client_secret_post_only: [METHODS],
  code_grant_not_listed: ["authorization_endpoint", "grant_types_supported"],
  code_response_not_listed: ["response_types_supported"],
  device_endpoint_missing: [
    "device_authorization_endpoint",
    "grant_types_supported",
  ],
  device_grant_misnamed: ["grant_types_supported"],
  documents_only: REGISTRATION,
  dpop_required: ["dpop_bound_access_tokens_required"],
  endpoint_refused: ["authorization_endpoint", "token_endpoint"],
  header_method_not_listed: ["bearer_methods_supported"],
  iss_not_supported: ["authorization_response_iss_parameter_supported"],
  issuer_mismatch: ["issuer"],
  issuer_slash: ["issuer"],
  issuer_template: ["issuer"],
  no_authorization_endpoint: ["authorization_endpoint"],
  no_authorization_servers: ["authorization_servers"],
  no_registration: REGISTRATION,
  no_token_endpoint: ["token_endpoint"],
  odd_scopes: ["scopes_supported"],
  pkce_not_listed: ["code_challenge_methods_supported"],
  pkce_without_s256: ["code_challenge_methods_supported"],
  public_client_not_listed: [METHODS],
  pushed_requests_required: [
    "require_pushed_authorization_requests",
    "pushed_authorization_request_endpoint",
  ],
  query_mode_not_listed: ["response_modes_supported"],
  refresh_grant_not_listed: ["grant_types_supported"],
  resource_is_parent: ["resource"],
  resource_mismatch: ["resource"],
  revocation_missing: ["revocation_endpoint"],
  revocation_at_token_endpoint: ["revocation_endpoint", "token_endpoint"],
  refresh_grant_not_registered: ["grant_types"],
  registration_scope_narrowed: ["scope"],
  registration_secret_unrequested: [
    "token_endpoint_auth_method",
    "client_secret",
  ],
  registration_without_secret: ["token_endpoint_auth_method", "client_secret"],
  scopes_malformed: ["scopes_supported"],
  several_authorization_servers: ["authorization_servers"],
  signed_requests_required: ["require_signed_request_object"],
};

/** The values that show a finding about any members of metadata. */
const FOUND: Readonly<Record<string, (value: unknown) => boolean>> = {
  empty_lists: (value) => Array.isArray(value) && value.length === 0,
  null_members: (value) => value === null,
  unsafe_links: (value) =>
    typeof value === "string" && parseUrl(value) !== undefined &&
    !isWebUrl(value),
};

/**
 * Returns the exchange that shows a finding about a URL. Those of a sign-in are left
 * out, as they have the same URLs for other reasons. For the resource, it is the exchange
 * of the probe.
 */
export function exchangeFor(
  { exchanges, probe }: IFacts,
  id: string,
  url: string | undefined,
): IExchange | undefined {
  const href = url === undefined ? undefined : parseUrl(url)?.href;
  const found = exchanges.filter((one) =>
    !isOfSignIn(one) &&
    (one.url === url ||
      (href !== undefined && parseUrl(one.url)?.href === href))
  );
  const fits = found.filter(({ name, method }) =>
    id === "cors"
      ? name === "cors"
      : name !== "cors" && (name !== "resource" || method === probe.method)
  );
  return fits.at(-1) ?? found.at(-1);
}

/** Cuts the values of members, so that lists of a hundred scopes stay readable. */
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

/** The header fields that an excerpt shows. */
const FIELDS = ["content-type", "location", "retry-after", "www-authenticate"];

function headOf({ response, isFailed }: IExchange): string[] {
  if (!response) return [isFailed ? "No response" : ""].filter(Boolean);
  const fields = FIELDS.flatMap((name) => {
    const value = response.headers?.get(name);
    return typeof value === "string" ? [`${name}: ${shown(value, 300)}`] : [];
  });
  return [`HTTP status ${response.status}`, ...fields];
}

/** Returns the part of a response that shows a finding. */
export function excerptOf(
  facts: IFacts,
  id: string,
  exchange: IExchange,
): string | undefined {
  const document = allDocuments(facts).find((one) =>
    one.exchange === exchange || parseUrl(one.url)?.href === exchange.url
  );
  const members = document && membersOf(document);
  const { received } = publicPartsOf(exchange);
  const json = received ?? members;
  const names = (received && id === "dpop_required" ? undefined : SHOWN[id]) ??
    Object.entries(json ?? {})
      .filter(([, value]) => received || FOUND[id]?.(value))
      .map(([name]) => name);
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
