/** Makes requests like browsers, to test whether a web page could be the client. */

import type { AuthorizationContext } from "../discovery/discover.ts";
import type { AnyDocument, CorsProbe, Facts, Probe } from "./_facts.ts";
import { headerOf, isAssumed } from "./_facts.ts";
import { probe, type Survey } from "./_probe.ts";

/** The web page's origin, on a reserved host name (RFC 2606, section 2). */
const ORIGIN = "https://client.example";

const REGISTRATION = "the registration endpoint";

/** The requests of a web page, in order, with their names. */
const PARTS: readonly [part: CorsProbe["part"], name: string][] = [
  ["metadata", "the metadata"],
  ["resource", "the resource"],
  ["token", "the token endpoint"],
  ["registration", REGISTRATION],
];

function allowsOrigin(headers: { get(name: string): string | null }): boolean {
  const allowed = headers.get("Access-Control-Allow-Origin");
  return allowed === "*" || allowed === ORIGIN;
}

export function isAllowed({ method, response }: Probe): boolean {
  const { headers, ok = false } = response ?? {};
  return headers !== undefined && allowsOrigin(headers) &&
    (ok || method !== "OPTIONS");
}

/** Checks whether a web page may request the resource, but not read its challenge. */
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

/** Returns the parts that a web page cannot use; undefined if untested. */
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

/** Returns whether a web page can be the client; undefined if untested. */
export function webPagesOf(facts: Facts): boolean | "with_client" | undefined {
  const parts = hiddenParts(facts);
  return parts && (parts.join() === REGISTRATION ? "with_client" : !parts[0]);
}

/**
 * Makes a web page's requests to known URLs. Without a probe of the resource, the
 * target is an authorization server.
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
    // A response without an `Origin` may contain the header already.
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
  // A page with a client registers none.
  if (options.client ?? options.signIn?.client) return probes;
  const registration = preflight("POST", "content-type");
  await request("registration", registration_endpoint, "OPTIONS", registration);
  return probes;
}
