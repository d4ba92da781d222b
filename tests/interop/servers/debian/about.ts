import type { ClientOptions, Place, Server } from "../../server.ts";

/** The options for a client that the operator has registered. */
const known = (path = "") => ({ upstream }: Place): ClientOptions => ({
  flow: {
    knownClients: [{
      issuer: upstream + path,
      client_id: "interop",
      client_secret: "secret",
      token_endpoint_auth_method: "client_secret_basic",
    }],
  },
});

/** The options where PKCE is supported, but not listed. */
const assuming = (path?: string) => ({
  options: (place: Place): ClientOptions => ({
    flow: { ...known(path)(place).flow, assumePkce: true },
  }),
  bare: known(path),
  advice: /assumePkce/,
});

const doorkeeper = {
  debian: [
    "ruby-doorkeeper",
    "ruby-doorkeeper-openid-connect",
    "ruby-rails",
    "ruby-sqlite3",
    "puma",
  ],
  ...assuming(),
  stepUpPath: "/admin",
  plays: ["refuse", "step_up", "credentials", "advice"],
} as const;

const lemonldap = {
  debian: [
    "liblemonldap-ng-portal-perl",
    "libcrypt-openssl-bignum-perl",
    "libio-string-perl",
    "libstring-random-perl",
  ],
  refusal: { code: "oauth_error", error: "consent_required" },
  // Its portal accepts a POST at each path: 2xx, and not a page.
  verdictAtWrongPath: "open",
} as const;

const glewlwyd = {
  debian: ["glewlwyd", "dbconfig-sqlite3"],
  // Clients that have registered are public, and may not revoke.
} as const;

export default [
  {
    name: "Authlib with Flask (Debian)",
    debian: ["python3-authlib", "python3-flask", "python3-flask-sqlalchemy"],
    command: ["node", "authlib.mjs"],
    stepUpPath: "/admin",
    plays: ["refuse", "step_up", "credentials", "deleted"],
    // A client that is registered without scopes receives none. Its revocation
    // endpoint knows client_secret_basic only, but registers clients with `none`.
  },
  {
    name: "django-oauth-toolkit (Debian)",
    debian: ["python3-django-oauth-toolkit"],
    command: ["node", "django.mjs"],
    ...assuming("/o"),
    stepUpPath: "/admin",
    plays: ["refuse", "step_up", "credentials", "advice"],
    // It publishes no revocation endpoint.
  },
  {
    ...doorkeeper,
    name: "Doorkeeper (Debian)",
    command: ["node", "doorkeeper.mjs", "read"],
  },
  {
    ...doorkeeper,
    name: "Doorkeeper, openid (Debian)",
    command: ["node", "doorkeeper.mjs", "openid", "read"],
    // Its page for consent loses the nonce.
  },
  {
    ...lemonldap,
    name: "LemonLDAP::NG (Debian)",
    command: ["node", "lemonldap.mjs"],
    options: known("/"),
    plays: ["refuse", "credentials"],
    // Its cookie keeps the first request, so the sign-in after one that was left ends
    // with the response to that one, and its `state`.
    fails: { leave: "old response" },
  },
  {
    ...lemonldap,
    name: "LemonLDAP::NG, registration (Debian)",
    command: ["node", "lemonldap.mjs", "registration"],
    plays: ["refuse"],
    fails: { leave: "old response" },
    // Clients that have registered receive no refresh tokens.
    lacks: ["offline", "expiry", "put_off"],
  },
  {
    ...glewlwyd,
    name: "glewlwyd (Debian)",
    command: ["node", "glewlwyd.mjs"],
    plays: ["credentials", "deleted"],
  },
  {
    ...glewlwyd,
    name: "glewlwyd, PAR (Debian)",
    command: ["node", "glewlwyd.mjs", "par"],
    // It refuses a pushed request with a resource: 403 without a body.
    options: () => ({ flow: { resourceIndicator: false } }),
    unseen: ["resourceIndicator"],
    advice: /resourceIndicator: false/,
    plays: ["par", "advice", "deleted"],
  },
] satisfies Server[];
