/** One Worker with `OAuthProvider`, and the consent page of its documentation. */
import { insufficientScope, OAuthProvider } from "./oauth-provider.js";

const pathOf = (request) => new URL(request.url).pathname;

const apiHandler = {
  fetch(request, _env, ctx) {
    const isAdmin = pathOf(request) === "/mcp/admin";
    const needed = isAdmin ? ["mcp:read", "mcp:write"] : ["mcp:read"];
    return needed.every((scope) => ctx.auth.scope.includes(scope))
      ? Response.json(ctx.props)
      : insufficientScope(ctx.auth, needed);
  },
};

function page({ scope }, handle) {
  const boxes = scope.map((one) =>
    `<input type="checkbox" name="scope" value="${one}" checked> ${one}`
  );
  return `<!doctype html><form method="post">
    <input type="hidden" name="handle" value="${handle}">${boxes.join("")}
    <button name="decision" value="approve">Allow</button>
    <button name="decision" value="deny">Deny</button></form>`;
}

async function authorize(request, oauth) {
  if (request.method === "GET") {
    const parsed = await oauth.parseAuthRequest(request);
    const details = await oauth.describeConsent(parsed);
    const { headers, handle } = await oauth.beginConsent(parsed);
    headers.set("Content-Type", "text/html; charset=utf-8");
    return new Response(page(details, handle), { headers });
  }
  const form = await request.formData();
  const handle = String(form.get("handle"));
  if (form.get("decision") !== "approve") {
    const { headers } = await oauth.denyConsent(request, handle);
    return new Response(null, { status: 302, headers });
  }
  const scope = form.getAll("scope").map(String);
  const approved = await oauth.approveConsent(request, handle, { scope });
  const { redirectTo } = await oauth.completeAuthorization({
    request: approved.request,
    userId: "alice",
    metadata: {},
    scope: approved.request.scope,
    props: { userId: "alice" },
  });
  approved.headers.set("Location", redirectTo);
  return new Response(null, { status: 302, headers: approved.headers });
}

const defaultHandler = {
  async fetch(request, { OAUTH_PROVIDER: oauth }) {
    if (pathOf(request) === "/operator/clients") {
      await oauth.deleteClient(new URL(request.url).searchParams.get("id"));
      return new Response();
    }
    if (pathOf(request) !== "/authorize") {
      return new Response(null, { status: 404 });
    }
    try {
      return await authorize(request, oauth);
    } catch (error) {
      if (error.redirectTo) return Response.redirect(error.redirectTo, 302);
      return new Response(error.description ?? error.message, { status: 400 });
    }
  },
};

let provider;

export default {
  fetch(request, env, ctx) {
    provider ??= new OAuthProvider({
      apiRoute: "/mcp",
      apiHandler,
      defaultHandler,
      authorizeEndpoint: "/authorize",
      tokenEndpoint: "/oauth/token",
      scopesSupported: ["mcp:read", "mcp:write", "offline_access"],
      resourceMetadata: {
        resource: `${env.ORIGIN}/mcp`,
        authorization_servers: [env.ORIGIN],
      },
      requiredScopes: ["mcp:read"],
      ...env.MODE === "documents"
        ? { clientIdMetadataDocumentEnabled: true }
        : { clientRegistrationEndpoint: "/oauth/register" },
    });
    return provider.fetch(request, env, ctx);
  },
};
