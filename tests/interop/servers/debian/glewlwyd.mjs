/** glewlwyd with its plugin for OpenID Connect, set up by its API for administration. */
import { execFileSync } from "node:child_process";
import { generateKeyPairSync, verify } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { request as send } from "node:http";
import { data, origin, run, serve, upstream } from "./_resource.mjs";

const { EMAIL, PASSWORD } = process.env;
const pushes = process.argv[2] === "par";
const issuer = `${origin}/api/oidc`;
const database = `${data}/glewlwyd.db`;
const modules = "/usr/lib/glewlwyd";

execFileSync("/usr/bin/sqlite3", [database], {
  input: readFileSync(
    "/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3",
  ),
});
writeFileSync(
  `${data}/glewlwyd.conf`,
  `port=${new URL(upstream).port}
bind_address="127.0.0.1"
external_url="${origin}"
login_url="login"
api_prefix="api"
log_mode="console"
log_level="WARNING"
cookie_domain="127.0.0.1"
cookie_secure=0
session_key="GLEWLWYD2_SESSION_ID"
admin_scope="g_admin"
profile_scope="g_profile"
user_module_path="${modules}/user"
client_module_path="${modules}/client"
user_auth_scheme_module_path="${modules}/scheme"
plugin_module_path="${modules}/plugin"
hash_algorithm="SHA512"
database = { type = "sqlite3"; path = "${database}"; };
`,
);
await run(["/usr/bin/glewlwyd", "--config-file", `${data}/glewlwyd.conf`]);

/** Calls the API with a session. */
async function call(path, cookie, body, method = "POST") {
  const response = await fetch(`${upstream}/api/${path}`, {
    method,
    headers: { "Content-Type": "application/json", Cookie: cookie },
    ...body && { body: JSON.stringify(body) },
  });
  if (!response.ok) {
    throw new Error(`${path}: ${response.status} ${await response.text()}`);
  }
  return response.headers.getSetCookie();
}

const cookiesOf = (lines) => lines.map((line) => line.split(";")[0]).join("; ");
const admin = cookiesOf(
  await call("auth/", "", { username: "admin", password: "password" }),
);
const { publicKey, privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
await call("scope/", admin, { name: "read", display_name: "Read" });
await call("user/", admin, {
  username: "alice",
  password: PASSWORD,
  email: EMAIL,
  scope: ["openid", "read", "g_profile"],
  enabled: true,
});
await call("mod/plugin/", admin, {
  module: "oidc",
  name: "oidc",
  display_name: "OpenID Connect",
  parameters: {
    iss: issuer,
    "jwt-type": "rsa",
    "jwt-key-size": "256",
    key: privateKey,
    cert: publicKey,
    "allow-non-oidc": true,
    "auth-type-code-enabled": true,
    "auth-type-client-enabled": true,
    "auth-type-refresh-enabled": true,
    "allowed-scope": ["openid", "read"],
    "pkce-allowed": true,
    "introspection-revocation-allowed": true,
    "introspection-revocation-allow-target-client": true,
    "register-client-allowed": true,
    "register-client-auth-scope": [],
    "register-client-credentials-scope": [],
    "oauth-par-allowed": pushes,
    "oauth-par-required": pushes,
    "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:",
    "oauth-par-duration": 90,
  },
});
await call("client/", admin, {
  client_id: "service",
  client_secret: "s3cret/+ %",
  authorization_type: ["client_credentials"],
  scope: ["read"],
  confidential: true,
  enabled: true,
  token_endpoint_auth_method: ["client_secret_basic", "client_secret_post"],
});

/** Does what the page for signing in does by scripts. */
async function login(request, response) {
  const { searchParams } = new URL(request.url, origin);
  response.setHeader("Content-Type", "text/html");
  if (request.method === "GET") {
    return response.end(
      '<form method="post"><input name="username">' +
        '<input name="password" type="password"><button>Allow</button></form>',
    );
  }
  const form = new URLSearchParams(await new Response(request).text());
  const session = await call("auth/", "", Object.fromEntries(form));
  const id = encodeURIComponent(searchParams.get("client_id"));
  const scope = searchParams.get("scope");
  await call(`auth/grant/${id}`, cookiesOf(session), { scope }, "PUT");
  response.writeHead(302, {
    "Set-Cookie": session,
    Location: `${searchParams.get("callback_url")}&g_continue`,
  }).end();
}

serve({
  issuer,
  scopes: ["openid", "read"],
  // As its documentation recommends: access tokens are JWTs.
  scopesOf(token) {
    const [head, payload, signature] = token.split(".");
    const isGenuine = verify(
      "RSA-SHA256",
      `${head}.${payload}`,
      publicKey,
      Buffer.from(signature ?? "", "base64url"),
    );
    if (!isGenuine) return undefined;
    const { exp, scope } = JSON.parse(Buffer.from(payload, "base64url"));
    return exp * 1000 > Date.now() ? scope.split(" ") : undefined;
  },
  remove: (id) =>
    call(`client/${encodeURIComponent(id)}`, admin, undefined, "DELETE"),
  async handle(request, response) {
    if (request.url.startsWith("/login")) return await login(request, response);
    const { url, method, headers } = request;
    const forwarded = send(
      `${upstream}${url}`,
      { method, headers },
      (given) => {
        response.writeHead(given.statusCode, given.rawHeaders);
        given.pipe(response);
      },
    );
    request.pipe(forwarded);
  },
});
