/** LemonLDAP::NG: its portal as an OpenID Connect provider, in a process of Plack. */
import { generateKeyPairSync } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import {
  data,
  introspection,
  origin,
  run,
  serve,
  upstream,
} from "./_resource.mjs";

const registers = process.argv[2] === "registration";
const issuer = `${upstream}/`;
const { publicKey, privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
const folder = (name) => {
  mkdirSync(`${data}/${name}/lock`, { recursive: true });
  return `${data}/${name}`;
};
const sessions = (name) => ({
  Directory: folder(name),
  LockDirectory: `${folder(name)}/lock`,
  generateModule: "Lemonldap::NG::Common::Apache::Session::Generate::SHA256",
});
const client = (id, secret, options) => ({
  oidcRPMetaDataOptionsClientID: id,
  oidcRPMetaDataOptionsClientSecret: secret,
  oidcRPMetaDataOptionsIDTokenSignAlg: "RS256",
  ...options,
});

writeFileSync(
  `${folder("conf")}/lmConf-1.json`,
  JSON.stringify({
    cfgNum: 1,
    cfgDate: Math.floor(Date.now() / 1000),
    portal: issuer,
    domain: "127.0.0.1",
    cookieName: "lemonldap",
    securedCookie: 0,
    locationRules: { "127.0.0.1": { default: "accept" } },
    macros: { _whatToTrace: "$uid" },
    whatToTrace: "_whatToTrace",
    // That of the package needs ImageMagick to draw; none is asked for.
    captcha: "::Main::Plugin",
    authentication: "REST",
    restAuthUrl: `${origin}/users`,
    userDB: "Null",
    globalStorage: "Apache::Session::File",
    globalStorageOptions: sessions("sessions"),
    persistentStorage: "Apache::Session::File",
    persistentStorageOptions: sessions("persistent"),
    localSessionStorage: "Cache::FileCache",
    localSessionStorageOptions: { cache_root: folder("cache") },
    issuerDBOpenIDConnectActivation: 1,
    issuerDBOpenIDConnectPath: "^/oauth2/",
    oidcServiceAllowDynamicRegistration: Number(registers),
    oidcServicePrivateKeySig: privateKey,
    oidcServicePublicKeySig: publicKey,
    oidcServiceKeyIdSig: "interop",
    oidcRPMetaDataExportedVars: { interop: {}, resource: {}, service: {} },
    oidcRPMetaDataOptions: {
      interop: client("interop", "secret", {
        oidcRPMetaDataOptionsRedirectUris: process.env.REDIRECT_URI,
        oidcRPMetaDataOptionsRefreshToken: 1,
      }),
      resource: client("resource", "secret"),
      service: client("service", "s3cret/+ %", {
        oidcRPMetaDataOptionsAllowClientCredentialsGrant: 1,
      }),
    },
  }),
);
writeFileSync(
  `${data}/lemonldap-ng.ini`,
  `[all]
logLevel = warn
[configuration]
type = File
dirName = ${data}/conf
localStorage = Cache::FileCache
localStorageOptions = { 'cache_root' => '${folder("cache")}' }
[portal]
templateDir = ${data}/templates
staticPrefix = /static
`,
);

// Without its script, the page for consent has no way to refuse.
cpSync("/usr/share/lemonldap-ng/portal/templates", `${data}/templates`, {
  recursive: true,
});
const page = `${data}/templates/bootstrap/confirm.tpl`;
writeFileSync(
  page,
  readFileSync(page, "utf8")
    .replace(/<input[^>]* name="confirm".*/, "")
    .replace('class="positive', 'name="confirm" value="$KEY" $&')
    .replace(' val="', ' name="confirm" value="')
    .replace("$KEY", '<TMPL_VAR NAME="CONFIRMKEY">'),
);

const { hostname, port } = new URL(upstream);
await run([
  "/usr/bin/plackup",
  ...["--host", hostname, "--port", port, "lemonldap.psgi"],
], { LLNG_DEFAULTCONFFILE: `${data}/lemonldap-ng.ini` });
serve({
  issuer,
  scopes: ["openid"],
  scopesOf: introspection(`${issuer}oauth2/introspect`, "resource", "secret"),
  async handle(request, response) {
    const { user, password } = await new Response(request).json();
    const result = user === "alice" && password === process.env.PASSWORD;
    response.setHeader("Content-Type", "application/json");
    // Each browser has an account of its own, as consent is asked for once.
    const info = { uid: crypto.randomUUID() };
    response.end(JSON.stringify({ result, info }));
  },
});
