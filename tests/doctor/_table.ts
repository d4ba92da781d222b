/** Deviations of servers, and the findings that each of them leads to. */

import {
  all,
  challenge,
  type Change,
  documents,
  getStatus,
  inPlace,
  metadataAt,
  only,
  parameters,
  removed,
  resource,
  server,
  status,
} from "./_changes.ts";
import {
  APPENDED_PATH,
  OPENID_PATH,
  RESOURCE_PATH,
  ROOT_PATH,
  served,
  SERVER_PATH,
} from "./_world.ts";

export interface Deviation {
  readonly name: string;
  /** Findings as `severity id`, in their order. */
  readonly findings: readonly string[];
  readonly verdict: string;
  readonly options?: readonly string[] | undefined;
  readonly change: Change;
  /** What it changes: two of one part exclude each other. */
  readonly part: string | undefined;
}

/**
 * By name: the findings, the change, and the verdict with the names of options. By
 * default, the verdict is `broken` with an error, else `ready`.
 */
type Rows = Record<string, [findings: string, Change, verdict?: string]>;

const SERVER_AT_ORIGIN = "/.well-known/oauth-authorization-server";
const HTML = { headers: { "Content-Type": "text/html; charset=utf-8" } };
const PAGE = "<!doctype html><p>Page</p>";
// On loopback as well, so that its endpoints may be.
const ELSEWHERE = { issuer: "http://localhost:9" };

const AS_JSON = { "Content-Type": "application/json; charset=utf-8" };

/** What a client requests where nothing is named. */
const NOTHING_THERE = [
  RESOURCE_PATH,
  ROOT_PATH,
  SERVER_AT_ORIGIN,
  "/.well-known/openid-configuration",
  "/authorize",
  "/register",
].map((path) => [path, served({ error: "login" }, { status: 401 })]);

const atAppendedPath = only((model) => ({
  [`/mcp${ROOT_PATH}`]: served(model.resourceMetadata),
}));

const asRoot = all(
  resource((origin) => ({ resource: origin })),
  documents((model) => ({ [ROOT_PATH]: served(model.resourceMetadata) })),
);

/** Deviations that can be combined, by the part that they change. */
const PARTS: Record<string, Rows> = {
  challenge: {
    "401 without a challenge": ["warning no_challenge", challenge(undefined)],
    "another scheme": [
      "warning no_challenge",
      challenge('Basic realm="api"'),
    ],
    "a challenge without commas": [
      "",
      parameters(' scope="read"'),
    ],
    "no space after commas, and an unknown parameter (Figma)": [
      "",
      parameters(',scope="read",authorization_uri="https://as.example/a"'),
    ],
    "a challenge without resource_metadata": [
      "",
      challenge('Bearer scope="read"'),
    ],
    "a scope that the server does not list": [
      "warning scope_not_listed",
      parameters(', scope="admin"'),
    ],
    "resource_metadata that is missing, and metadata elsewhere": [
      "warning metadata_unusable",
      metadataAt("/m"),
    ],
    "404 in place of 401": [
      "warning no_401",
      status(404),
      "needs_option tokenRequired",
    ],
    "410 at the resource": ["error target_not_found", status(410)],
    "403 in place of 401": [
      "warning no_401",
      status(403),
      "needs_option tokenRequired",
    ],
    "a redirect to a login page": [
      "warning no_401",
      status(302, { Location: "https://login.example/" }),
    ],
  },
  authorization_servers: {
    "one authorization server as a string": [
      "warning no_authorization_servers",
      resource((origin) => ({ authorization_servers: `${origin}/as` })),
    ],
    "several authorization servers": [
      "",
      resource((origin) => ({
        authorization_servers: [`${origin}/as`, "https://as.example"],
      })),
    ],
  },
  issuer: {
    "an issuer on another host (Atlassian 2025)": [
      "error issuer_mismatch",
      server(ELSEWHERE),
      "needs_option trustedIssuers",
    ],
    "an issuer with a query": [
      "error issuer_mismatch",
      server((origin) => ({ issuer: `${origin}/as?x=1` })),
      "needs_option trustedIssuers",
    ],
    "an issuer for all tenants (Entra ID)": [
      "error issuer_mismatch",
      server({ issuer: "http://localhost:9/{tenantid}/v2.0" }),
      "needs_option trustedIssuers resourceIndicator",
    ],
    "an issuer for all tenants of another server": [
      "error issuer_mismatch",
      server({ issuer: "http://localhost:9/{tenant}" }),
      "needs_option trustedIssuers",
    ],
    "an issuer that ends in a slash, named without it": [
      "",
      server((origin) => ({ issuer: `${origin}/as/` })),
    ],
  },
  pkce: {
    "PKCE not listed (Cognito)": [
      "error pkce_not_listed",
      server({ code_challenge_methods_supported: undefined }),
      "needs_option assumePkce",
    ],
    "PKCE with plain alone": [
      "error pkce_not_listed",
      server({ code_challenge_methods_supported: ["plain"] }),
    ],
  },
  registration: {
    "no registration (GitHub)": [
      "warning no_registration",
      server({ registration_endpoint: undefined }),
      "needs_client client",
    ],
    "registration without public clients (Supabase)": [
      "",
      server({
        token_endpoint_auth_methods_supported: [
          "client_secret_basic",
          "client_secret_post",
        ],
      }),
    ],
  },
  grants: {
    "no refresh tokens": [
      "",
      server({ grant_types_supported: ["authorization_code"] }),
    ],
    "the grant device_code, and no endpoint (GitLab, Dropbox)": [
      "warning endpoint_missing",
      server({
        grant_types_supported: [
          "authorization_code",
          "refresh_token",
          "device_code",
        ],
      }),
    ],
  },
  revocation: {
    "an endpoint that is null": [
      "",
      server({ revocation_endpoint: null }),
    ],
    "revocation at the token endpoint (Notion)": [
      "",
      server((origin) => ({ revocation_endpoint: `${origin}/as/token` })),
    ],
  },
  par: {
    "pushed requests required": [
      "info pushed_requests_required",
      server((origin) => ({
        require_pushed_authorization_requests: true,
        pushed_authorization_request_endpoint: `${origin}/as/par`,
      })),
    ],
    "pushed requests required, without an endpoint": [
      "error pushed_requests_required",
      server({ require_pushed_authorization_requests: true }),
    ],
  },
};

/** Deviations that can be combined with any other. */
const ANYWHERE: Rows = {
  "DPoP is required": [
    "info dpop_required",
    resource({ dpop_bound_access_tokens_required: true }),
    "needs_option dpop",
  ],
  "response modes without query (Vercel)": [
    "",
    server({ response_modes_supported: ["form_post"] }),
  ],
  "signed request objects required": [
    "error signed_requests_required",
    server({ require_signed_request_object: true }),
  ],
};

const ALONE: Rows = {
  "scopes that the server does not list, beside those of the challenge": [
    "",
    resource({ scopes_supported: ["read", "refresh_token"] }),
  ],
  "refresh_token as a scope (Salesforce)": [
    "warning scope_not_listed",
    all(
      parameters(""),
      resource({ scopes_supported: ["read", "refresh_token"] }),
    ),
  ],
  "an empty list of scopes (HubSpot)": [
    "info no_scopes",
    all(parameters(""), resource({ scopes_supported: [] })),
  ],
  // It ends the discovery: what else is wrong is seen once it is mended.
  "metadata of another resource": [
    "error resource_mismatch",
    resource({ resource: "https://other.example/mcp" }),
  ],
  "metadata of a parent at the URL of the resource": [
    "error resource_mismatch",
    resource((origin) => ({ resource: origin })),
  ],
  "no scope anywhere": [
    "info no_scopes",
    all(parameters(""), resource({ scopes_supported: undefined })),
  ],
  "resource_metadata that is no URL": [
    "warning url_refused",
    challenge('Bearer resource_metadata="/meta", scope="read"'),
  ],
  "resource_metadata that is http, and nothing else published": [
    "error url_refused",
    all(challenge('Bearer resource_metadata="http://api.example/m"'), only()),
  ],
  "resource_metadata that is missing, and nothing published": [
    "error metadata_unusable",
    only(),
  ],
  "500 in place of 401": ["error no_401", status(500)],
  "200 without a token, and metadata (Hugging Face)": [
    "info no_401",
    status(200),
    "needs_option tokenRequired",
  ],
  "200 without a token, and no metadata": [
    "",
    all(status(200), only()),
    "open",
  ],
  "200 without a token, and 503 at every metadata URL": [
    "warning metadata_unusable",
    all(
      status(200),
      only(() => ({
        [ROOT_PATH]: served("", { status: 503 }),
        [SERVER_AT_ORIGIN]: served("", { status: 503 }),
      })),
    ),
    "open",
  ],
  "an event stream without an end": [
    "info no_401",
    ({ handlers }) => {
      const headers = { "Content-Type": "text/event-stream" };
      handlers["GET /mcp"] = () =>
        new Response(new ReadableStream(), { headers });
    },
    "needs_option tokenRequired",
  ],
  "401 for POST only": ["info challenge_for_post_only", getStatus(405)],
  "401 for POST only, and 404 for GET (Express)": [
    "",
    all(parameters(""), getStatus(404)),
  ],
  "200 for POST, and 404 for GET": [
    "info no_401",
    all(status(200), getStatus(404)),
    "needs_option tokenRequired",
  ],
  "404 for GET, and 405 for POST": [
    "warning no_401",
    all(status(405), getStatus(404)),
    "needs_option tokenRequired",
  ],
  "404 for GET and POST, and metadata of the origin alone": [
    "error target_not_found",
    all(status(404), asRoot, removed(RESOURCE_PATH)),
  ],
  "a challenge of DPoP alone": [
    "info dpop_required",
    challenge((origin) =>
      `DPoP resource_metadata="${origin}${RESOURCE_PATH}", scope="read"`
    ),
    "needs_option dpop",
  ],
  "nothing but a 401, and /register": [
    "warning no_challenge, warning no_resource_metadata, warning no_server_metadata",
    all(
      status(401),
      only(() => ({
        "/authorize": served("", { status: 400 }),
        "/register": served("", { status: 405 }),
      })),
    ),
  ],
  "nothing but a 401 (Plaid)": [
    "warning no_challenge, warning no_resource_metadata, warning no_server_metadata",
    all(
      status(401),
      only(() => ({ "/authorize": served("", { status: 400 }) })),
    ),
    "needs_client client",
  ],
  "nothing but a 401, and no /authorize either": [
    "error no_resource_metadata, warning no_challenge",
    all(status(401), only()),
    "needs_option serverMetadata client",
  ],
  "JSON and a challenge without a URL, and no metadata (Linear's API)": [
    "error no_resource_metadata",
    all(status(401, AS_JSON), challenge("Bearer"), only()),
    "needs_option serverMetadata client",
  ],
  "JSON with 401 at every path": [
    "error no_resource_metadata, warning no_challenge, warning metadata_unusable",
    all(
      status(401, AS_JSON),
      only(() => Object.fromEntries(NOTHING_THERE)),
    ),
    "needs_option serverMetadata client",
  ],
  "JSON with 404 in place of 401, and no metadata (GitHub's API)": [
    "error no_resource_metadata, warning no_401",
    all(status(404, AS_JSON), only()),
    "needs_option serverMetadata client tokenRequired",
  ],
  "JSON with 404 in place of 401, no metadata, and an endpoint": [
    "warning no_401, warning no_resource_metadata, warning no_server_metadata",
    all(
      status(404, AS_JSON),
      only(() => ({ "/authorize": served("", { status: 400 }) })),
    ),
    "needs_option tokenRequired serverMetadata client",
  ],
  "403 in place of 401, and no metadata": [
    "error no_resource_metadata, warning no_401",
    all(status(403), only()),
    "needs_option serverMetadata client tokenRequired",
  ],
  "a challenge with 400 (OAuth::Lite2)": [
    "warning no_401",
    ({ resource }) => void (resource.status = 400),
    "needs_option tokenRequired",
  ],
  "metadata at the appended path, and a server without any": [
    "error no_resource_metadata, error no_server_metadata",
    all(challenge("Bearer"), atAppendedPath),
  ],
  "metadata at the appended path, and a server at the origin": [
    "warning no_resource_metadata",
    all(
      challenge('Bearer scope="read"'),
      server((origin) => ({ issuer: origin })),
      atAppendedPath,
      documents((model) => ({
        [SERVER_AT_ORIGIN]: served(model.serverMetadata),
      })),
    ),
  ],

  "metadata of a parent at the URL of the resource too (fastmcp)": [
    "warning resource_mismatch",
    asRoot,
  ],
  "metadata of the origin at the URL of the origin (Slack)": [
    "",
    all(asRoot, metadataAt(ROOT_PATH), removed(RESOURCE_PATH)),
  ],
  "metadata at the URL of the challenge alone": [
    "",
    all(
      metadataAt("/meta"),
      documents((model) => ({ "/meta": served(model.resourceMetadata) })),
      removed(RESOURCE_PATH),
    ),
  ],
  // Discovery ends there, and no option lifts it: the server is not read.
  "a resource with a fragment, and a server without PKCE": [
    "error resource_mismatch, error pkce_not_listed",
    all(
      resource((origin) => ({ resource: `${origin}/mcp#x` })),
      server({ code_challenge_methods_supported: ["plain"] }),
    ),
  ],
  "no resource in the metadata": [
    "error metadata_unusable",
    resource({ resource: undefined }),
  ],
  "JSON that is no metadata, and metadata elsewhere": [
    "warning metadata_unusable",
    all(
      asRoot,
      documents(() => ({ [RESOURCE_PATH]: served({ error: "not found" }) })),
    ),
  ],
  "no authorization servers": [
    "warning no_authorization_servers",
    all(
      resource({ authorization_servers: undefined }),
      server((origin) => ({ issuer: origin })),
      documents((model) => ({
        [SERVER_AT_ORIGIN]: served(model.serverMetadata),
      })),
    ),
  ],
  "no authorization servers, and no server at the origin": [
    "error no_authorization_servers",
    resource({ authorization_servers: undefined }),
  ],
  "authorization servers that are objects": [
    "error no_authorization_servers",
    resource({ authorization_servers: [{ url: "x" }] }),
  ],
  "an authorization server at http": [
    "error url_refused",
    resource({ authorization_servers: ["http://as.example"] }),
  ],
  "80 scopes, one of them none (PagerDuty)": [
    "",
    all(
      parameters(""),
      resource({
        scopes_supported: [...Array(79).keys().map((i) => `s${i}`), "none"],
      }),
      server({ scopes_supported: undefined }),
    ),
  ],

  "HTML at a well-known URL before the metadata": [
    "warning metadata_unusable",
    all(
      inPlace(PAGE, HTML),
      documents((model) => ({ [OPENID_PATH]: served(model.serverMetadata) })),
    ),
  ],
  "HTML in place of the metadata of the server": [
    "error metadata_unusable",
    inPlace(PAGE, HTML),
  ],
  "text in place of the metadata of the server": [
    "error metadata_unusable",
    inPlace("{"),
  ],
  "a redirect of the metadata to another host": [
    "error metadata_unusable",
    inPlace("", {
      status: 302,
      headers: { Location: "https://other.example/" },
    }),
  ],
  "a redirect of the metadata within the origin": [
    "warning metadata_unusable",
    all(
      inPlace("", { status: 302, headers: { Location: "/moved" } }),
      documents((model) => ({ "/moved": served(model.serverMetadata) })),
    ),
  ],
  "503 at the metadata of the server, and members that are null": [
    "error metadata_unusable",
    all(inPlace("", { status: 503 }), resource({ resource_name: null })),
  ],
  "401 at the metadata of the server": [
    "error metadata_unusable",
    inPlace("", { status: 401 }),
  ],
  "metadata that is too large": [
    "error discovery_failed",
    server({ padding: "x".repeat(1_100_000) }),
  ],

  "an issuer on another host, and no metadata (Zoom)": [
    "error issuer_mismatch, warning no_challenge, " +
    "warning no_resource_metadata, info no_scopes",
    all(
      status(401),
      server(ELSEWHERE),
      only((model) => ({ [SERVER_AT_ORIGIN]: served(model.serverMetadata) })),
    ),
    "needs_option trustedIssuers",
  ],
  "endpoints on another host (Atlassian)": [
    "",
    server((origin) => {
      const other = origin.replace("127.0.0.1", "localhost");
      return {
        authorization_endpoint: `${other}/authorization`,
        token_endpoint: `${other}/token`,
        registration_endpoint: `${other}/registration`,
      };
    }),
  ],
  "an issuer that ends in a slash, and is named so (Auth0)": [
    "",
    all(
      server((origin) => ({ issuer: `${origin}/as/` })),
      resource((origin) => ({ authorization_servers: [`${origin}/as/`] })),
    ),
  ],
  "no issuer": [
    "error metadata_unusable",
    server({ issuer: undefined }),
  ],
  "an endpoint at http": [
    "error url_refused",
    server({ revocation_endpoint: "http://as.example/revoke" }),
    "needs_option allowHttp",
  ],
  "no metadata of the server": [
    "error no_server_metadata",
    removed(SERVER_PATH),
    "needs_option serverMetadata",
  ],
  "metadata at the appended URL of OpenID Connect alone": [
    "",
    all(
      removed(SERVER_PATH),
      documents((model) => ({ [APPENDED_PATH]: served(model.serverMetadata) })),
    ),
  ],
  "documents of one issuer that are equal": [
    "",
    documents(({ serverMetadata }) => ({
      [OPENID_PATH]: served({ ...serverMetadata }),
    })),
  ],
  "PKCE not listed, and no token endpoint": [
    "error endpoint_missing, error pkce_not_listed",
    server({
      code_challenge_methods_supported: undefined,
      token_endpoint: undefined,
    }),
  ],
  "no token endpoint (Facebook)": [
    "error endpoint_missing",
    server({ token_endpoint: undefined }),
  ],
  "no authorization endpoint": [
    "error endpoint_missing",
    server({ authorization_endpoint: undefined }),
  ],
  "client credentials alone": [
    "info endpoint_missing",
    server({
      authorization_endpoint: undefined,
      grant_types_supported: ["client_credentials"],
    }),
  ],
  "client metadata documents alone": [
    "info no_registration",
    server({
      registration_endpoint: undefined,
      client_id_metadata_document_supported: true,
    }),
    "needs_option clientMetadataUrl",
  ],
  "client_secret_post alone (Slack)": [
    "",
    server({ token_endpoint_auth_methods_supported: ["client_secret_post"] }),
  ],
  "none alone, and no grant types (Calendly)": [
    "",
    server({
      grant_types_supported: undefined,
      token_endpoint_auth_methods_supported: ["none"],
    }),
  ],
  "private_key_jwt alone": [
    "warning auth_methods_need_key",
    server({ token_endpoint_auth_methods_supported: ["private_key_jwt"] }),
    "needs_client client",
  ],
};

/** Reads the outcome of a row: the findings, and the verdict with its options. */
export function outcome(found: string, expected?: string) {
  const usual = /\berror /.test(found) ? "broken" : "ready";
  const [verdict = usual, ...names] = expected?.split(" ") ?? [];
  return {
    findings: found.split(", ").filter(Boolean),
    verdict,
    options: names.length > 0 ? names : undefined,
  };
}

const toDeviations = (
  rows: Rows,
  partOf: (name: string) => string | undefined,
): Deviation[] =>
  Object.entries(rows).map(([name, [found, change, expected]]) => (
    { name, change, part: partOf(name), ...outcome(found, expected) }
  ));

export const TABLE: readonly Deviation[] = [
  ...Object.entries(PARTS).flatMap(([part, rows]) =>
    toDeviations(rows, () => part)
  ),
  ...toDeviations(ANYWHERE, (name) => name),
  ...toDeviations(ALONE, () => undefined),
];
