import type { IClientOptions, IPlace, IServer } from "../../server.ts";

/** The options for a client that the operator has registered, without PKCE listed. */
const known = (path: string) => ({ upstream }: IPlace): IClientOptions => ({
  flow: {
    assumePkce: true,
    knownClients: [{
      issuer: upstream + path,
      client_id: "interop",
      client_secret: "secret",
      token_endpoint_auth_method: "client_secret_basic",
    }],
  },
});

const servers: IServer[] = [
  {
    name: "Authlib with Flask (Debian)",
    debian: ["python3-authlib", "python3-flask", "python3-flask-sqlalchemy"],
    command: ["node", "authlib.mjs"],
    stepUpPath: "/admin",
    plays: ["refuse", "step_up", "credentials", "deleted"],
    // A client that is registered without scopes receives none. Its revocation
    // endpoint knows client_secret_basic only, but registers clients with `none`.
    fails: { step_up: "S1", sign_out: "S12", credentials: "B1" },
  },
  {
    name: "django-oauth-toolkit (Debian)",
    debian: ["python3-django-oauth-toolkit"],
    command: ["node", "django.mjs"],
    options: known("/o"),
    verdict: "needs_client",
    stepUpPath: "/admin",
    plays: ["refuse", "step_up", "credentials"],
    // It publishes no revocation endpoint.
    fails: { sign_out: "S12" },
  },
];

export default servers;
