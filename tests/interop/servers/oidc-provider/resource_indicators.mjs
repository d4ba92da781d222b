/** oidc-provider with two resources whose scopes it knows, and more grants. */
import Provider, { errors } from "oidc-provider";
import { options, origin, resource, serve } from "./_resource.mjs";

/** Responds in place of the user of another device, after the first poll. */
function respond(request, { accountId }, { clientId }) {
  setTimeout(async () => {
    if (accountId === "refuses") {
      const refused = new errors.AccessDenied("The user declines");
      await provider.backchannelResult(request, refused);
      return;
    }
    const grant = new provider.Grant({ accountId, clientId });
    grant.addOIDCScope(request.scope);
    for (const [name, { scope }] of Object.entries(resourcesOf(request))) {
      grant.addResourceScope(name, scope);
    }
    await grant.save();
    await provider.backchannelResult(request, grant);
  }, 300);
}

const resourcesOf = ({ resource, scope }) =>
  Object.fromEntries([resource ?? []].flat().map((one) => [one, { scope }]));

const others = { "/files": ["files:read"] };
const scopesAt = {
  [resource]: ["mcp:read", "mcp:write"],
  [`${origin}/files`]: others["/files"],
};

const provider = new Provider(origin, {
  ...options(Object.values(scopesAt).flat(), {
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo(_ctx, audience) {
        const scopes = scopesAt[audience];
        if (!scopes) throw new errors.InvalidTarget();
        const accessTokenFormat = "opaque";
        return { audience, scope: scopes.join(" "), accessTokenFormat };
      },
    },
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true },
    ciba: {
      enabled: true,
      deliveryModes: ["poll"],
      processLoginHint: (_ctx, hint) => hint,
      verifyUserCode() {},
      validateRequestContext() {},
      triggerAuthenticationDevice: (_ctx, request, account, client) =>
        respond(request, account, client),
    },
  }),
  clients: [{
    client_id: "service",
    client_secret: "s3cret/+ %",
    grant_types: [
      "client_credentials",
      "refresh_token",
      "urn:openid:params:grant-type:ciba",
    ],
    backchannel_token_delivery_mode: "poll",
    response_types: [],
    redirect_uris: [],
  }],
});

serve(provider, { scopes: ["mcp:read"], others });
