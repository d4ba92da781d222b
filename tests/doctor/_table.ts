/** Deviations of servers, and the findings that each of them leads to. */

import {
  APPENDED_PATH,
  type IModel,
  OPENID_PATH,
  RESOURCE_PATH,
  ROOT_PATH,
  served,
  SERVER_PATH,
} from "./_world.ts";

/** One deviation. */
export interface IDeviation {
  readonly name: string;
  /** Findings as `severity id`, in their order. */
  readonly findings: readonly string[];
  readonly verdict: string;
  /** The options that a client needs. */
  readonly options?: readonly string[];
  readonly change: (model: IModel) => void;
  /**
   * What the deviation changes: two of one part exclude each other. Without it, the
   * deviation is only tested alone.
   */
  readonly part?: string;
}

const HTML = { "Content-Type": "text/html; charset=utf-8" };

function challenge(value: string | undefined) {
  return ({ resource }: IModel) => {
    if (value === undefined) delete resource.headers["WWW-Authenticate"];
    else resource.headers["WWW-Authenticate"] = value;
  };
}

/** Changes parameters after the URL of the metadata in the challenge. */
function parameters(value: string) {
  return ({ origin, resource }: IModel) => {
    resource.headers["WWW-Authenticate"] =
      `Bearer resource_metadata="${origin}${RESOURCE_PATH}"${value}`;
  };
}

const resource = (members: Record<string, unknown>) => (model: IModel) =>
  void Object.assign(model.resourceMetadata, members);

const server = (members: Record<string, unknown>) => (model: IModel) =>
  void Object.assign(model.serverMetadata, members);

const status =
  (status: number, headers: Record<string, string> = {}) =>
  ({ resource }: IModel) => {
    resource.status = status;
    Object.assign(resource.headers, headers);
    delete resource.headers["WWW-Authenticate"];
  };

const page = () => served("<!doctype html><p>Page</p>", { headers: HTML });

/** Deviations of the response of the resource, and of its challenge. */
const AT_THE_RESOURCE: readonly IDeviation[] = [
  {
    name: "401 without a challenge",
    findings: ["warning no_challenge"],
    verdict: "ready",
    change: challenge(undefined),
    part: "challenge",
  },
  {
    name: "another scheme",
    findings: ["warning challenge_other_scheme"],
    verdict: "ready",
    change: challenge('Basic realm="api"'),
    part: "challenge",
  },
  {
    name: "a challenge without commas",
    findings: ["warning challenge_malformed"],
    verdict: "ready",
    change: (model) => parameters(' scope="read"')(model),
    part: "challenge",
  },
  {
    name: "no space after commas, and an unknown parameter (Figma)",
    findings: [],
    verdict: "ready",
    change: parameters(
      ',scope="read",authorization_uri="https://as.example/authorize"',
    ),
    part: "challenge",
  },
  {
    name: "several challenges",
    findings: ["info several_challenges"],
    verdict: "ready",
    change: parameters(', scope="read", DPoP algs="ES256"'),
    part: "challenge",
  },
  {
    name: "a challenge without resource_metadata",
    findings: ["info challenge_without_metadata_url"],
    verdict: "ready",
    change: challenge('Bearer scope="read"'),
    part: "challenge",
  },
  {
    name: "an error without a token",
    findings: ["info challenge_error_code"],
    verdict: "ready",
    change: parameters(', scope="read", error="invalid_token"'),
    part: "challenge",
  },
  {
    name: "scopes with commas",
    findings: ["warning challenge_scope_malformed"],
    verdict: "ready",
    change: (model) => {
      parameters(', scope="read,write"')(model);
      delete model.serverMetadata.scopes_supported;
    },
    part: "challenge",
  },
  {
    name: "a scope that the server does not list",
    findings: ["warning scope_not_listed"],
    verdict: "ready",
    change: parameters(', scope="admin"'),
    part: "challenge",
  },
  {
    name: "no scope anywhere",
    findings: ["info no_scopes"],
    verdict: "ready",
    change: (model) => {
      parameters("")(model);
      delete model.resourceMetadata.scopes_supported;
    },
  },
  {
    name: "resource_metadata that is no URL",
    findings: ["warning metadata_url_refused"],
    verdict: "ready",
    change: challenge('Bearer resource_metadata="/meta", scope="read"'),
  },
  {
    name: "resource_metadata that is http, and nothing else published",
    findings: ["error metadata_url_refused"],
    verdict: "broken",
    change: (model) => {
      challenge('Bearer resource_metadata="http://api.example/m", scope="r"')(
        model,
      );
      model.documents = {};
    },
  },
  {
    name: "resource_metadata that is missing, and metadata elsewhere",
    findings: ["warning named_metadata_missing"],
    verdict: "ready",
    change: (model) =>
      challenge(`Bearer resource_metadata="${model.origin}/m", scope="read"`)(
        model,
      ),
    part: "challenge",
  },
  {
    name: "resource_metadata that is missing, and nothing published",
    findings: ["error named_metadata_missing"],
    verdict: "broken",
    change: (model) => void (model.documents = {}),
  },
  {
    name: "404 at the resource",
    findings: ["error target_not_found"],
    verdict: "broken",
    change: status(404),
    part: "challenge",
  },
  {
    name: "500 in place of 401",
    findings: ["error no_401"],
    verdict: "broken",
    change: status(500),
  },
  {
    name: "403 in place of 401",
    findings: ["warning no_401"],
    verdict: "ready",
    change: status(403),
    part: "challenge",
  },
  {
    name: "a redirect to a login page",
    findings: ["warning target_redirected"],
    verdict: "ready",
    change: status(302, { Location: "https://login.example/" }),
    part: "challenge",
  },
  {
    name: "200 without a token, and metadata (Hugging Face)",
    findings: ["info token_optional"],
    verdict: "open",
    change: status(200),
  },
  {
    name: "200 without a token, and no metadata",
    findings: [],
    verdict: "open",
    change: (model) => {
      status(200)(model);
      model.documents = {};
    },
  },
  {
    name: "200 without a token, and 503 at every metadata URL",
    findings: ["warning metadata_status"],
    verdict: "open",
    change: (model) => {
      status(200)(model);
      const down = served("", { status: 503 });
      const path = "/.well-known/oauth-authorization-server";
      model.documents = { [ROOT_PATH]: down, [path]: down };
    },
  },
  {
    name: "an event stream without an end",
    findings: ["info token_optional"],
    verdict: "open",
    change: ({ handlers }) => {
      handlers["GET /mcp"] = () =>
        new Response(new ReadableStream(), {
          headers: { "Content-Type": "text/event-stream" },
        });
    },
  },
  {
    name: "401 for POST only",
    findings: ["info challenge_for_post_only"],
    verdict: "ready",
    change: ({ handlers }) => {
      handlers["GET /mcp"] = () => new Response(null, { status: 405 });
    },
  },
  {
    name: "401 for POST only, and 404 for GET (Express)",
    findings: [],
    verdict: "ready",
    change: (model) => {
      challenge(
        `Bearer resource_metadata="${model.origin}${RESOURCE_PATH}"`,
      )(model);
      model.handlers["GET /mcp"] = () => new Response(null, { status: 404 });
    },
  },
  {
    name: "200 for POST, and 404 for GET",
    findings: ["info token_optional"],
    verdict: "open",
    change: (model) => {
      status(200)(model);
      model.handlers["GET /mcp"] = () => new Response(null, { status: 404 });
    },
  },
  {
    name: "404 for GET, and 405 for POST",
    findings: ["error target_not_found"],
    verdict: "broken",
    change: (model) => {
      status(405)(model);
      model.handlers["GET /mcp"] = () => new Response(null, { status: 404 });
    },
  },
  {
    name: "a challenge of DPoP alone",
    findings: ["info dpop_required"],
    verdict: "needs_option",
    options: ["dpop"],
    change: (model) =>
      challenge(
        `DPoP resource_metadata="${model.origin}${RESOURCE_PATH}", scope="read"`,
      )(model),
  },
  {
    name: "nothing but a 401, and /register",
    findings: [
      "warning no_challenge",
      "warning endpoints_assumed",
      "warning no_resource_metadata",
    ],
    verdict: "ready",
    change: (model) => {
      status(401)(model);
      model.documents = {
        "/authorize": served("", { status: 400 }),
        "/register": served("", { status: 405 }),
      };
    },
  },
  {
    name: "nothing but a 401 (Plaid)",
    findings: [
      "warning no_challenge",
      "warning endpoints_assumed",
      "warning registration_not_found",
      "warning no_resource_metadata",
    ],
    verdict: "needs_client",
    options: ["client"],
    change: (model) => {
      status(401)(model);
      model.documents = { "/authorize": served("", { status: 400 }) };
    },
  },
  {
    name: "nothing but a 401, and no /authorize either",
    findings: [
      "error no_server_metadata",
      "warning no_challenge",
      "warning no_resource_metadata",
    ],
    verdict: "broken",
    change: (model) => {
      status(401)(model);
      model.documents = {};
    },
  },
];

/** Deviations of the metadata of the resource. */
const RESOURCE_METADATA: readonly IDeviation[] = [
  {
    name: "metadata of another resource",
    findings: ["error resource_mismatch"],
    verdict: "broken",
    change: resource({ resource: "https://other.example/mcp" }),
    part: "identifier",
  },
  {
    name: "metadata of a parent at the URL of the resource",
    findings: ["error resource_mismatch"],
    verdict: "broken",
    change: (model) => resource({ resource: model.origin })(model),
    part: "identifier",
  },
  {
    name: "metadata of a parent at the URL of the resource too (fastmcp)",
    findings: ["warning resource_mismatch", "info resource_is_parent"],
    verdict: "ready",
    change: (model) => {
      model.resourceMetadata.resource = model.origin;
      model.documents[ROOT_PATH] = served(model.resourceMetadata);
    },
  },
  {
    name: "a resource with a fragment",
    findings: ["error resource_mismatch"],
    verdict: "broken",
    change: (model) => resource({ resource: `${model.origin}/mcp#x` })(model),
    part: "identifier",
  },
  {
    name: "metadata of the origin at the URL of the origin (Slack)",
    findings: ["info resource_is_parent"],
    verdict: "ready",
    change: (model) => {
      model.resourceMetadata.resource = model.origin;
      challenge(
        `Bearer resource_metadata="${model.origin}${ROOT_PATH}", scope="read"`,
      )(model);
      model.documents[ROOT_PATH] = served(model.resourceMetadata);
      delete model.documents[RESOURCE_PATH];
    },
  },
  {
    name: "metadata at the URL of the challenge alone",
    findings: ["warning not_at_well_known_url"],
    verdict: "ready",
    change: (model) => {
      challenge(
        `Bearer resource_metadata="${model.origin}/meta", scope="read"`,
      )(model);
      model.documents["/meta"] = served(model.resourceMetadata);
      delete model.documents[RESOURCE_PATH];
    },
  },
  {
    name: "documents of one resource that disagree",
    findings: ["warning resource_documents_disagree"],
    verdict: "ready",
    change: (model) => {
      challenge(
        `Bearer resource_metadata="${model.origin}/meta", scope="read"`,
      )(model);
      model.documents["/meta"] = served({
        ...model.resourceMetadata,
        authorization_servers: [`${model.origin}/as/`],
      });
      model.serverMetadata.issuer = `${model.origin}/as/`;
    },
  },
  {
    name: "no resource in the metadata",
    findings: ["error resource_metadata_invalid"],
    verdict: "broken",
    change: (model) => void delete model.resourceMetadata.resource,
  },
  {
    name: "JSON that is no metadata, and metadata elsewhere",
    findings: [
      "warning resource_metadata_invalid",
      "info resource_is_parent",
    ],
    verdict: "ready",
    change: (model) => {
      model.documents[ROOT_PATH] = served(model.resourceMetadata);
      model.documents[RESOURCE_PATH] = served({ error: "not found" });
      model.resourceMetadata.resource = model.origin;
    },
  },
  {
    name: "scopes in a string",
    findings: ["warning scopes_malformed"],
    verdict: "ready",
    change: resource({ scopes_supported: "read write" }),
    part: "scopes",
  },
  {
    name: "an endpoint that is null",
    findings: ["warning null_members"],
    verdict: "ready",
    change: server({ revocation_endpoint: null }),
    part: "revocation",
  },
  {
    name: "no authorization servers",
    findings: ["warning no_authorization_servers"],
    verdict: "ready",
    change: (model) => {
      delete model.resourceMetadata.authorization_servers;
      model.serverMetadata.issuer = model.origin;
      model.documents["/.well-known/oauth-authorization-server"] = served(
        model.serverMetadata,
      );
    },
  },
  {
    name: "no authorization servers, and no server at the origin",
    findings: ["error no_authorization_servers"],
    verdict: "broken",
    change: (model) => void delete model.resourceMetadata.authorization_servers,
  },
  {
    name: "one authorization server as a string",
    findings: ["warning authorization_servers_malformed"],
    verdict: "ready",
    change: (model) =>
      resource({ authorization_servers: `${model.origin}/as` })(model),
    part: "authorization_servers",
  },
  {
    name: "authorization servers that are objects",
    findings: ["error authorization_servers_malformed"],
    verdict: "broken",
    change: resource({ authorization_servers: [{ url: "x" }] }),
  },
  {
    name: "several authorization servers",
    findings: ["info several_authorization_servers"],
    verdict: "ready",
    change: (model) =>
      resource({
        authorization_servers: [`${model.origin}/as`, "https://as.example"],
      })(model),
    part: "authorization_servers",
  },
  {
    name: "an authorization server at http",
    findings: ["error authorization_server_refused"],
    verdict: "broken",
    change: resource({ authorization_servers: ["http://as.example"] }),
  },
  {
    name: "DPoP is required",
    findings: ["info dpop_required"],
    verdict: "needs_option",
    options: ["dpop"],
    change: resource({ dpop_bound_access_tokens_required: true }),
    part: "dpop",
  },
  {
    name: "tokens in the query only",
    findings: ["warning header_method_not_listed"],
    verdict: "ready",
    change: resource({ bearer_methods_supported: ["query"] }),
    part: "bearer_methods",
  },
  {
    name: "80 scopes, one of them none (PagerDuty)",
    findings: ["warning many_scopes", "warning odd_scopes"],
    verdict: "ready",
    change: (model) => {
      parameters("")(model);
      const scopes = Array.from({ length: 79 }, (_, index) => `s${index}`);
      model.resourceMetadata.scopes_supported = [...scopes, "none"];
      delete model.serverMetadata.scopes_supported;
    },
  },
  {
    name: "refresh_token as a scope (Salesforce)",
    findings: ["warning odd_scopes"],
    verdict: "ready",
    change: resource({ scopes_supported: ["read", "refresh_token"] }),
    part: "scopes",
  },
  {
    name: "an empty list of scopes (HubSpot)",
    findings: ["info empty_lists"],
    verdict: "ready",
    change: resource({ scopes_supported: [] }),
    part: "scopes",
  },
  {
    name: "members that are null",
    findings: ["warning null_members"],
    verdict: "ready",
    change: resource({ resource_name: null }),
    part: "nulls",
  },
  {
    name: "a link that is no web URL",
    findings: ["warning unsafe_links"],
    verdict: "ready",
    change: resource({ resource_documentation: "javascript:alert(1)" }),
    part: "links",
  },
];

/** Deviations of the way in which documents are served. */
const SERVING: readonly IDeviation[] = [
  {
    name: "HTML at a well-known URL before the metadata",
    findings: ["warning html_instead_of_json", "info openid_metadata_only"],
    verdict: "ready",
    change: (model) => {
      model.documents[OPENID_PATH] = served(model.serverMetadata);
      model.documents[SERVER_PATH] = page();
    },
  },
  {
    name: "HTML in place of the metadata of the server",
    findings: ["error html_instead_of_json"],
    verdict: "broken",
    change: (model) => void (model.documents[SERVER_PATH] = page()),
  },
  {
    name: "text in place of the metadata of the server",
    findings: ["error not_json"],
    verdict: "broken",
    change: (model) => void (model.documents[SERVER_PATH] = served("{")),
  },
  {
    name: "a redirect of the metadata to another host",
    findings: ["error metadata_redirected"],
    verdict: "broken",
    change: (model) =>
      void (model.documents[SERVER_PATH] = served("", {
        status: 302,
        headers: { Location: "https://other.example/" },
      })),
  },
  {
    name: "a redirect of the metadata within the origin",
    findings: ["warning metadata_redirected"],
    verdict: "ready",
    change: (model) => {
      model.documents["/moved"] = served(model.serverMetadata);
      model.documents[SERVER_PATH] = served("", {
        status: 302,
        headers: { Location: "/moved" },
      });
    },
  },
  {
    name: "503 at the metadata of the server",
    findings: ["error metadata_status"],
    verdict: "broken",
    change: (model) =>
      void (model.documents[SERVER_PATH] = served("", { status: 503 })),
  },
  {
    name: "401 at the metadata of the server",
    findings: ["error metadata_protected"],
    verdict: "broken",
    change: (model) =>
      void (model.documents[SERVER_PATH] = served("", { status: 401 })),
  },
  {
    name: "metadata that is too large",
    findings: ["error metadata_too_large"],
    verdict: "broken",
    change: (model) => {
      model.serverMetadata.padding = "x".repeat(1_100_000);
    },
  },
  {
    name: "another media type",
    findings: ["warning content_type"],
    verdict: "ready",
    change: ({ documents }) => {
      const { [RESOURCE_PATH]: document } = documents;
      if (document) document.headers = { "Content-Type": "text/plain" };
    },
    part: "media_type",
  },
  {
    name: "metadata that must not be stored",
    findings: ["info not_cacheable"],
    verdict: "ready",
    change: ({ documents }) => {
      const { [SERVER_PATH]: document } = documents;
      if (document) {
        document.headers = { ...document.headers, "Cache-Control": "no-store" };
      }
    },
    part: "cache",
  },
  {
    name: "metadata that is stored for a year",
    findings: ["info cached_too_long"],
    verdict: "ready",
    change: ({ documents }) => {
      const { [SERVER_PATH]: document } = documents;
      if (document) {
        document.headers = {
          ...document.headers,
          "Cache-Control": "public, max-age=31536000",
        };
      }
    },
    part: "cache",
  },
  {
    name: "no CORS for metadata",
    findings: ["info cors"],
    verdict: "ready",
    change: ({ noCors }) => void noCors.add(SERVER_PATH),
  },
  {
    name: "no CORS for the resource",
    findings: ["info cors"],
    verdict: "ready",
    change: ({ noCors }) => void noCors.add("/mcp"),
  },
  {
    name: "a challenge that web pages cannot read",
    findings: ["info cors"],
    verdict: "ready",
    change: ({ resource }) =>
      void delete resource.headers["Access-Control-Expose-Headers"],
  },
  {
    name: "no CORS anywhere",
    findings: ["info cors"],
    verdict: "ready",
    change: ({ noCors }) => {
      for (const path of ["/mcp", SERVER_PATH, "/as/token", "/as/register"]) {
        noCors.add(path);
      }
    },
  },
  {
    name: "no CORS for the token endpoint",
    findings: ["info cors"],
    verdict: "ready",
    change: ({ noCors }) => void noCors.add("/as/token"),
  },
  {
    name: "no CORS for the registration endpoint",
    findings: ["info cors"],
    verdict: "ready",
    change: ({ noCors }) => void noCors.add("/as/register"),
  },
];

/** Deviations of the metadata of the server. */
const SERVER_METADATA: readonly IDeviation[] = [
  {
    name: "an issuer on another host (Atlassian 2025)",
    findings: ["error issuer_mismatch"],
    verdict: "needs_option",
    options: ["trustedIssuers", "allowHttp"],
    change: server({ issuer: "https://cf.mcp.example" }),
    part: "issuer",
  },
  {
    name: "an issuer on another host, and no metadata (Zoom)",
    findings: [
      "error issuer_mismatch",
      "warning no_challenge",
      "warning no_resource_metadata",
    ],
    verdict: "needs_option",
    options: ["trustedIssuers", "allowHttp"],
    change: (model) => {
      status(401)(model);
      model.serverMetadata.issuer = "https://cf.mcp.example";
      model.documents = {
        "/.well-known/oauth-authorization-server": served(model.serverMetadata),
      };
    },
  },
  {
    name: "endpoints on another host (Atlassian)",
    findings: [],
    verdict: "ready",
    change: (model) => {
      const other = model.origin.replace("127.0.0.1", "localhost");
      for (const name of ["authorization", "token", "registration"]) {
        model.serverMetadata[`${name}_endpoint`] = `${other}/${name}`;
      }
    },
  },
  {
    name: "an issuer with a query",
    findings: ["error issuer_mismatch"],
    verdict: "needs_option",
    options: ["trustedIssuers"],
    change: (model) => server({ issuer: `${model.origin}/as?x=1` })(model),
    part: "issuer",
  },
  {
    name: "an issuer for all tenants (Entra ID)",
    findings: ["error issuer_mismatch", "warning issuer_template"],
    verdict: "needs_option",
    options: ["trustedIssuers", "resource", "allowHttp"],
    change: server({ issuer: "https://login.example/{tenantid}/v2.0" }),
    part: "issuer",
  },
  {
    name: "an issuer for all tenants of another server",
    findings: ["error issuer_mismatch", "warning issuer_template"],
    verdict: "needs_option",
    options: ["trustedIssuers", "allowHttp"],
    change: server({ issuer: "https://login.example/{tenant}" }),
    part: "issuer",
  },
  {
    name: "an issuer that ends in a slash, named without it",
    findings: ["warning issuer_slash"],
    verdict: "ready",
    change: (model) => server({ issuer: `${model.origin}/as/` })(model),
    part: "issuer",
  },
  {
    name: "an issuer that ends in a slash, and is named so (Auth0)",
    findings: [],
    verdict: "ready",
    change: (model) => {
      model.serverMetadata.issuer = `${model.origin}/as/`;
      model.resourceMetadata.authorization_servers = [`${model.origin}/as/`];
    },
  },
  {
    name: "no issuer",
    findings: ["error server_metadata_invalid"],
    verdict: "broken",
    change: (model) => void delete model.serverMetadata.issuer,
  },
  {
    name: "an endpoint at http",
    findings: ["error endpoint_refused"],
    verdict: "needs_option",
    options: ["allowHttp"],
    change: server({ revocation_endpoint: "http://as.example/revoke" }),
  },
  {
    name: "no metadata of the server",
    findings: ["error no_server_metadata"],
    verdict: "broken",
    change: (model) => void delete model.documents[SERVER_PATH],
  },
  {
    name: "metadata at the appended URL of OpenID Connect alone",
    findings: ["info openid_metadata_only"],
    verdict: "ready",
    change: (model) => {
      delete model.documents[SERVER_PATH];
      model.documents[APPENDED_PATH] = served(model.serverMetadata);
    },
  },
  {
    name: "documents of one issuer that disagree on PKCE (GitHub)",
    findings: ["warning server_documents_disagree"],
    verdict: "ready",
    change: (model) => {
      const { code_challenge_methods_supported: _, ...others } =
        model.serverMetadata;
      model.documents[APPENDED_PATH] = served(others);
    },
  },
  {
    name: "PKCE not listed (Cognito)",
    findings: ["error pkce_not_listed"],
    verdict: "needs_option",
    options: ["assumePkce"],
    change: (model) =>
      void delete model.serverMetadata.code_challenge_methods_supported,
    part: "pkce",
  },
  {
    name: "PKCE with plain alone",
    findings: ["error pkce_without_s256"],
    verdict: "broken",
    change: server({ code_challenge_methods_supported: ["plain"] }),
    part: "pkce",
  },
  {
    name: "PKCE not listed, and no registration (Doorkeeper)",
    findings: ["error pkce_not_listed", "warning no_registration"],
    verdict: "needs_option",
    options: ["assumePkce", "client"],
    change: ({ serverMetadata }) => {
      delete serverMetadata.code_challenge_methods_supported;
      delete serverMetadata.registration_endpoint;
    },
  },
  {
    name: "PKCE not listed, and no token endpoint",
    findings: ["error no_token_endpoint", "error pkce_not_listed"],
    verdict: "broken",
    change: ({ serverMetadata }) => {
      delete serverMetadata.code_challenge_methods_supported;
      delete serverMetadata.token_endpoint;
    },
  },
  {
    name: "no token endpoint (Facebook)",
    findings: ["error no_token_endpoint"],
    verdict: "broken",
    change: (model) => void delete model.serverMetadata.token_endpoint,
  },
  {
    name: "no authorization endpoint",
    findings: ["error no_authorization_endpoint"],
    verdict: "broken",
    change: (model) => void delete model.serverMetadata.authorization_endpoint,
  },
  {
    name: "client credentials alone",
    findings: ["info no_authorization_endpoint"],
    verdict: "ready",
    change: (model) => {
      delete model.serverMetadata.authorization_endpoint;
      model.serverMetadata.grant_types_supported = ["client_credentials"];
    },
  },
  {
    name: "no registration (GitHub)",
    findings: ["warning no_registration"],
    verdict: "needs_client",
    options: ["client"],
    change: (model) => void delete model.serverMetadata.registration_endpoint,
    part: "registration",
  },
  {
    name: "client metadata documents alone",
    findings: ["info documents_only"],
    verdict: "needs_option",
    options: ["clientMetadataUrl"],
    change: (model) => {
      delete model.serverMetadata.registration_endpoint;
      model.serverMetadata.client_id_metadata_document_supported = true;
    },
  },
  {
    name: "registration without public clients (Supabase)",
    findings: ["info public_client_not_listed"],
    verdict: "ready",
    change: server({
      token_endpoint_auth_methods_supported: [
        "client_secret_basic",
        "client_secret_post",
      ],
    }),
    part: "registration",
  },
  {
    name: "client_secret_post alone (Slack)",
    findings: [
      "info public_client_not_listed",
      "info client_secret_post_only",
    ],
    verdict: "ready",
    change: server({
      token_endpoint_auth_methods_supported: ["client_secret_post"],
    }),
  },
  {
    name: "none alone, and no grant types (Calendly)",
    findings: [],
    verdict: "ready",
    change: (model) => {
      delete model.serverMetadata.grant_types_supported;
      model.serverMetadata.token_endpoint_auth_methods_supported = ["none"];
    },
  },
  {
    name: "private_key_jwt alone",
    findings: [
      "warning auth_methods_need_key",
      "info public_client_not_listed",
    ],
    verdict: "needs_client",
    options: ["client"],
    change: server({
      token_endpoint_auth_methods_supported: ["private_key_jwt"],
    }),
  },
  {
    name: "an authorization endpoint without the code grant",
    findings: ["warning code_grant_not_listed"],
    verdict: "ready",
    change: server({ grant_types_supported: ["refresh_token"] }),
    part: "grants",
  },
  {
    name: "no refresh tokens",
    findings: ["info refresh_grant_not_listed"],
    verdict: "ready",
    change: server({ grant_types_supported: ["authorization_code"] }),
    part: "grants",
  },
  {
    name: "the grant device_code, and no endpoint (GitLab, Dropbox)",
    findings: [
      "warning device_grant_misnamed",
      "warning device_endpoint_missing",
    ],
    verdict: "ready",
    change: server({
      grant_types_supported: [
        "authorization_code",
        "refresh_token",
        "device_code",
      ],
    }),
    part: "grants",
  },
  {
    name: "no response types",
    findings: ["warning code_response_not_listed"],
    verdict: "ready",
    change: (model) =>
      void delete model.serverMetadata.response_types_supported,
    part: "response_types",
  },
  {
    name: "response modes without query (Vercel)",
    findings: ["warning query_mode_not_listed"],
    verdict: "ready",
    change: server({ response_modes_supported: ["form_post"] }),
    part: "modes",
  },
  {
    name: "revocation at the token endpoint (Notion)",
    findings: ["warning revocation_at_token_endpoint"],
    verdict: "ready",
    change: (model) =>
      server({ revocation_endpoint: `${model.origin}/as/token` })(model),
    part: "revocation",
  },
  {
    name: "authorization responses without iss",
    findings: ["info iss_not_supported"],
    verdict: "ready",
    change: (model) =>
      void delete model.serverMetadata
        .authorization_response_iss_parameter_supported,
    part: "iss",
  },
  {
    name: "pushed requests required",
    findings: ["info pushed_requests_required"],
    verdict: "ready",
    change: (model) =>
      server({
        require_pushed_authorization_requests: true,
        pushed_authorization_request_endpoint: `${model.origin}/as/par`,
      })(model),
    part: "par",
  },
  {
    name: "pushed requests required, without an endpoint",
    findings: ["error pushed_requests_required"],
    verdict: "broken",
    change: server({ require_pushed_authorization_requests: true }),
    part: "par",
  },
  {
    name: "signed request objects required",
    findings: ["error signed_requests_required"],
    verdict: "broken",
    change: server({ require_signed_request_object: true }),
    part: "signed",
  },
];

/** Every deviation. */
export const TABLE: readonly IDeviation[] = [
  ...AT_THE_RESOURCE,
  ...RESOURCE_METADATA,
  ...SERVING,
  ...SERVER_METADATA,
];
