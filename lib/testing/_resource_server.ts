/** The resource server: its challenges, and which tokens it accepts. */

import type { Grants } from "./_grants.ts";
import type { ITestRequest } from "./request.ts";
import type { ITestSwitches } from "./switches.ts";

interface IResourceServer {
  readonly grants: Grants;
  readonly servers: Readonly<ITestSwitches>;
  readonly metadataUrl: string;
}

/** Responds to a call of the resource (RFC 6750, section 3; RFC 9470, section 3). */
export async function respondToCall(
  request: Request,
  received: ITestRequest,
  { grants, servers, metadataUrl }: IResourceServer,
): Promise<Response> {
  const refuse = (status: number, parameters: Record<string, string>) => {
    const all = { ...parameters, resource_metadata: metadataUrl };
    const listed = Object.entries(all)
      .map(([name, value]) => `${name}="${value}"`);
    return new Response("refused", {
      status,
      headers: { "WWW-Authenticate": `Bearer ${listed.join(", ")}` },
    });
  };
  const { requiredScopes, requiredAcr } = servers;
  const required = typeof requiredScopes === "function"
    ? requiredScopes(received)
    : requiredScopes;
  const scope: Record<string, string> = required.length > 0
    ? { scope: required.join(" ") }
    : {};
  const header = request.headers.get("Authorization") ?? "";
  const [, value] = /^Bearer +(\S+)$/i.exec(header) ?? [];
  const token = grants.find(value ?? "");
  if (!token) {
    return refuse(401, { ...value && { error: "invalid_token" }, ...scope });
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
