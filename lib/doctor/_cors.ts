/** Requests as browsers make them, to see whether a web page could be the client. */

import type { IAuthorizationContext } from "../discovery/discover.ts";
import type { AnyDocument, ICorsProbe, IProbe } from "./_facts.ts";
import { headerOf } from "./_facts.ts";
import { type ISurvey, probe } from "./_probe.ts";

/** The origin of the web page. The host name is reserved (RFC 2606, section 2). */
const ORIGIN = "https://client.example";

/** Checks whether a web page may read a response. */
function allowsOrigin(headers: { get(name: string): string | null }): boolean {
  const allowed = headers.get("Access-Control-Allow-Origin");
  return allowed === "*" || allowed === ORIGIN;
}

/** Checks whether a web page may make the request of a probe. */
export function isAllowed({ method, response }: IProbe): boolean {
  const { headers, ok = false } = response ?? {};
  return headers !== undefined && allowsOrigin(headers) &&
    (ok || method !== "OPTIONS");
}

/**
 * Makes those requests of a web page whose URLs are known. If there is no probe of
 * the resource, the target is an authorization server.
 */
export async function probeCors(
  survey: ISurvey,
  context: IAuthorizationContext | undefined,
  resource: IProbe | undefined,
  documents: readonly (AnyDocument | undefined)[],
): Promise<ICorsProbe[]> {
  const { target, recorder } = survey;
  const probes: ICorsProbe[] = [];
  const request = async (
    part: ICorsProbe["part"],
    url: string | undefined,
    method: string,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    if (!url || !recorder.isAlive(url)) return;
    const fetch = recorder.fetchFor(() => "cors", {
      isExtra: true,
      readsBody: false,
      method,
    });
    const purpose = part === "token" || part === "registration"
      ? part
      : part === "resource"
      ? "resource_metadata"
      : "authorization_server_metadata";
    const made = await probe(survey, purpose, fetch, {
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
  if (context?.serverMetadataUrl === undefined) return probes;
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
  const registration = preflight("POST", "content-type");
  await request("registration", registration_endpoint, "OPTIONS", registration);
  return probes;
}
