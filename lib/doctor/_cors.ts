/** Requests as browsers make them, to see whether a web page could be the client. */

import type { AuthorizationContext } from "../discovery/discover.ts";
import type { AnyDocument, CorsProbe, Facts, Probe } from "./_facts.ts";
import { headerOf, isAssumed } from "./_facts.ts";
import { probe, type Survey } from "./_probe.ts";

/** The origin of the web page. The host name is reserved (RFC 2606, section 2). */
const ORIGIN = "https://client.example";

const REGISTRATION = "the registration endpoint";

/** What a web page requests, in order, and what it is called. */
const PARTS: readonly [part: CorsProbe["part"], name: string][] = [
  ["metadata", "the metadata"],
  ["resource", "the resource"],
  ["token", "the token endpoint"],
  ["registration", REGISTRATION],
];

/** Checks whether a web page may read a response. */
function allowsOrigin(headers: { get(name: string): string | null }): boolean {
  const allowed = headers.get("Access-Control-Allow-Origin");
  return allowed === "*" || allowed === ORIGIN;
}

/** Checks whether a web page may make the request of a probe. */
export function isAllowed({ method, response }: Probe): boolean {
  const { headers, ok = false } = response ?? {};
  return headers !== undefined && allowsOrigin(headers) &&
    (ok || method !== "OPTIONS");
}

/** Checks whether a web page may request the resource, and not read its challenge. */
function hidesChallenge(
  { response }: Probe,
  probes: readonly CorsProbe[],
): boolean {
  const { headers } = response ?? {};
  const exposed = headers?.get("Access-Control-Expose-Headers") ?? "";
  return probes.some((one) => one.part === "resource" && isAllowed(one)) &&
    Boolean(headers?.get("Access-Control-Allow-Origin")) &&
    !/\bwww-authenticate\b|\*/i.test(exposed);
}

/** Returns what a web page cannot use; undefined if it was not tried. */
export function hiddenParts(
  { probe, corsProbes }: Pick<Facts, "probe" | "corsProbes">,
): string[] | undefined {
  if (corsProbes.length === 0) return undefined;
  const parts = PARTS.filter(([part]) =>
    corsProbes.some((one) => one.part === part && !isAllowed(one))
  ).map(([, name]) => name);
  if (hidesChallenge(probe, corsProbes)) {
    parts.push("the challenge of the resource");
  }
  return parts;
}

/** Returns whether a web page can be the client; undefined if it was not tried. */
export function webPagesOf(facts: Facts): boolean | "with_client" | undefined {
  const parts = hiddenParts(facts);
  return parts && (parts.join() === REGISTRATION ? "with_client" : !parts[0]);
}

/**
 * Makes those requests of a web page whose URLs are known. If there is no probe of
 * the resource, the target is an authorization server.
 */
export async function probeCors(
  survey: Survey,
  context: AuthorizationContext | undefined,
  resource: Probe | undefined,
  documents: readonly (AnyDocument | undefined)[],
): Promise<CorsProbe[]> {
  const { target, options, recorder } = survey;
  const probes: CorsProbe[] = [];
  const request = async (
    part: CorsProbe["part"],
    url: string | undefined,
    method: string,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    if (!url || !recorder.isAlive(url)) return;
    const purpose = part === "token" || part === "registration"
      ? part
      : part === "resource"
      ? "resource_metadata"
      : "authorization_server_metadata";
    const made = await probe(survey, {
      name: "cors",
      purpose,
      url,
      method,
      headers: { Origin: ORIGIN, ...headers },
    });
    probes.push({ ...made, part });
  };
  const preflight = (method: string, headers: string) => ({
    "Access-Control-Request-Method": method,
    "Access-Control-Request-Headers": headers,
  });
  if (resource && !resource.response) return probes;
  if (!context || isAssumed({ context })) return probes;
  for (const document of documents) {
    // A response without an `Origin` may have the header already.
    const get = (name: string) => document ? headerOf(document, name) : "";
    if (!document || allowsOrigin({ get })) continue;
    await request("metadata", document.url, "GET", {
      Accept: "application/json",
    });
  }
  const { token_endpoint, registration_endpoint } = context.serverMetadata;
  if (resource) {
    const call = preflight(resource.method, "authorization,content-type");
    await request("resource", target.href, "OPTIONS", call);
  }
  const token = preflight("POST", "authorization,content-type");
  await request("token", token_endpoint, "OPTIONS", token);
  // A page that has a client registers none.
  if (options.client ?? options.signIn?.client) return probes;
  const registration = preflight("POST", "content-type");
  await request("registration", registration_endpoint, "OPTIONS", registration);
  return probes;
}
