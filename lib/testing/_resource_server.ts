import { DPOP_ALGORITHMS, type DpopProofs } from "./_dpop_proofs.ts";
import type { Grants } from "./_grants.ts";
import type { TestRequest } from "./request.ts";
import type { TestSwitches } from "./switches.ts";

interface ResourceServer {
  readonly grants: Grants;
  readonly proofs: DpopProofs;
  readonly servers: Readonly<TestSwitches>;
  readonly metadataUrl: string;
}

/** Returns a request's scheme, in lower case, and its token. */
function credentialsOf({ headers }: TestRequest) {
  const value = headers.get("Authorization") ?? "";
  const [, scheme = "", token = ""] = /^(Bearer|DPoP) +(\S+)$/i.exec(value) ??
    [];
  return { scheme: scheme.toLowerCase(), accessToken: token };
}

/**
 * Responds to a call of the resource (RFC 6750, section 3; RFC 9449, section 7; RFC
 * 9470, section 3).
 */
export async function respondToCall(
  request: Request,
  received: TestRequest,
  { grants, proofs, servers, metadataUrl }: ResourceServer,
): Promise<Response> {
  const { scheme, accessToken } = credentialsOf(received);
  const token = grants.find(accessToken);
  const hasScheme = scheme === "dpop";
  const isBound = servers.dpop === "required" || token?.jkt !== undefined;
  const isDpop = servers.dpop !== "ignored" && (isBound || hasScheme);

  const refuse = (
    status: number,
    parameters: Record<string, string>,
    headers = new Headers(),
  ) => {
    const listed = Object.entries({
      ...parameters,
      ...isDpop && { algs: DPOP_ALGORITHMS.join(" ") },
      resource_metadata: metadataUrl,
    }).map(([name, value]) => `${name}="${value}"`).join(", ");
    const challenge = `${isDpop ? "DPoP" : "Bearer"} ${listed}`;
    headers.set("WWW-Authenticate", challenge);
    return new Response("refused", { status, headers });
  };

  const { requiredScopes, requiredAcr } = servers;
  const required = typeof requiredScopes === "function"
    ? requiredScopes(received)
    : requiredScopes;
  const scope: Record<string, string> = required.length > 0
    ? { scope: required.join(" ") }
    : {};
  let jkt: string | undefined;
  try {
    if (hasScheme) jkt = await proofs.thumbprintOf(received, accessToken);
  } catch (refused) {
    if (!(refused instanceof Response)) throw refused;
    return refuse(401, await refused.json(), new Headers(refused.headers));
  }
  // A bound token needs its key's proof; a bearer token uses another scheme.
  const isProven = isBound ? jkt && token?.jkt === jkt : !hasScheme;
  if (!token || !isProven) {
    return refuse(401, {
      ...accessToken && { error: "invalid_token" },
      ...scope,
    });
  }
  const { scopes, grant: { clientId, acr } } = token;
  if (requiredAcr !== null && acr !== requiredAcr) {
    const error = "insufficient_user_authentication";
    return refuse(401, { error, acr_values: requiredAcr });
  }
  if (!required.every((one) => scopes.includes(one))) {
    return refuse(403, { error: "insufficient_scope", ...scope });
  }
  return await servers.handle(request, { clientId, scopes });
}
