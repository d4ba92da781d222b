/** Findings about what a client needs after discovery, by the metadata of the server. */

import { type Members, stringsIn } from "../core/_members.ts";
import { isWebUrl } from "../core/_url.ts";
import { list } from "./_facts.ts";
import { type IRule, liftedBy } from "./_rules.ts";

/** Returns a list of the server; undefined if there is none. */
function listIn(server: Members, name: string): string[] | undefined {
  return stringsIn(server[`${name}_supported`]);
}

const METHODS = "token_endpoint_auth_methods_supported";

function methodsOf(server: Members): string[] {
  return stringsIn(server[METHODS]) ?? ["client_secret_basic"];
}

const hasCodeFlow = (server: Members) => Boolean(server.authorization_endpoint);

const isRegistrable = ({ registration_endpoint: endpoint }: Members) =>
  typeof endpoint === "string" && isWebUrl(endpoint);

const REGISTRATION = [
  "registration_endpoint",
  "client_id_metadata_document_supported",
];

/** What all of these findings have. */
const ABOUT = {
  about: "server_metadata",
  standard: "RFC 8414, section 2",
} as const;

/** The findings about the parts of a flow. */
export const SERVER_RULES: readonly IRule[] = [
  {
    ...ABOUT,
    id: "pkce_not_listed", // Cognito
    severity: "error",
    standard: "RFC 8414, section 2; RFC 7636, section 4.2",
    operator: 'Publish `"code_challenge_methods_supported": ["S256"]`.',
    client:
      "With this library: `assumePkce: true`, if the server is known to " +
      "support PKCE.",
    shows: ["code_challenge_methods_supported"],
    find: ({ options, signIn }, server) =>
      hasCodeFlow(server) && !listIn(server, "code_challenge_methods") &&
      liftedBy({
        message: "The server does not list its PKCE methods.",
        severity: options.assumePkce ? "warning" : "error",
        ...(signIn?.session && signIn.flow === "code" && {
          client:
            "With this library: `assumePkce: true`. The sign-in of this " +
            "diagnosis has succeeded with PKCE.",
        }),
      }, { name: "assumePkce", value: true }),
  },
  {
    ...ABOUT,
    id: "pkce_without_s256", // oidc-provider
    severity: "error",
    standard: "RFC 7636, section 4.2; RFC 9700, section 2.1.1",
    operator: "Support `S256`, and list it.",
    shows: ["code_challenge_methods_supported"],
    find(_, server) {
      const methods = listIn(server, "code_challenge_methods");
      return hasCodeFlow(server) && methods && !methods.includes("S256") &&
        `The server lists no PKCE method S256, but ${list(methods) || "none"}.`;
    },
  },
  {
    ...ABOUT,
    id: "no_token_endpoint", // Facebook
    severity: "error",
    operator: "Publish the `token_endpoint`.",
    shows: ["token_endpoint"],
    find: (_, server) =>
      !server.token_endpoint && "The server has no token endpoint.",
  },
  {
    ...ABOUT,
    id: "no_authorization_endpoint", // client credentials alone
    severity: "error",
    operator: "Publish the `authorization_endpoint`.",
    client:
      "With this library: `clientCredentialsFlow` or `deviceFlow`, where " +
      "the server lists the grant.",
    shows: ["authorization_endpoint"],
    find: (_, server) =>
      !hasCodeFlow(server) && {
        message: "The server has no authorization endpoint.",
        severity: listIn(server, "grant_types")
            ?.some((grant) => /client_credentials|device_code/.test(grant))
          ? "info"
          : "error",
      },
  },
  {
    ...ABOUT,
    id: "no_registration", // GitHub
    standard: "RFC 7591, section 3; MCP 2025-11-25, authorization",
    operator:
      "Offer dynamic registration, or accept client metadata documents.",
    client: "With this library: `client`, set to one that the operator has " +
      "registered.",
    shows: REGISTRATION,
    find: (_, server) =>
      !isRegistrable(server) &&
      server.client_id_metadata_document_supported !== true &&
      "The server offers neither registration nor client metadata documents.",
  },
  {
    ...ABOUT,
    id: "documents_only", // Cloudflare
    severity: "info",
    standard: "OAuth Client ID Metadata Document, section 3",
    operator: "Nothing, if every client has a URL for its document.",
    client: "With this library: `clientMetadataUrl`, the https URL of your " +
      "client metadata document.",
    shows: REGISTRATION,
    find: (_, server) =>
      !isRegistrable(server) &&
      server.client_id_metadata_document_supported === true &&
      "The server accepts client metadata documents, and offers no registration.",
  },
  {
    ...ABOUT,
    id: "public_client_not_listed", // Supabase
    severity: "info",
    standard: "RFC 8414, section 2; RFC 8252, section 8.4",
    operator: "List `none` in `token_endpoint_auth_methods_supported`.",
    client: "This library registers a method that the server lists.",
    shows: [METHODS],
    find: (_, server) =>
      isRegistrable(server) && !methodsOf(server).includes("none") &&
      `Clients can register, but not without a secret: ${
        list(methodsOf(server))
      }.`,
  },
  {
    ...ABOUT,
    id: "auth_methods_need_key", // FAPI 2.0
    standard: "RFC 8414, section 2; RFC 7523, section 2.2",
    operator: "Allow `none` or a client secret as well.",
    client:
      "With this library: `client`, of `privateKeyJwt` or `clientAssertion`.",
    shows: [METHODS],
    find: (_, server) =>
      !methodsOf(server).some((method) =>
        ["none", "client_secret_basic", "client_secret_post"].includes(method)
      ) && {
        message: `Every authentication method needs a key: ${
          list(methodsOf(server))
        }.`,
        options: [{ name: "client" }],
      },
  },
  {
    ...ABOUT,
    id: "refresh_grant_not_listed", // glewlwyd
    severity: "info",
    standard: "RFC 8414, section 2; RFC 6749, section 6",
    operator: "List `refresh_token`, if refresh tokens are issued.",
    client:
      "Some servers issue refresh tokens all the same; else the user signs " +
      "in again.",
    shows: ["grant_types_supported"],
    find(_, server) {
      const grants = listIn(server, "grant_types");
      return grants?.includes("authorization_code") &&
        !grants.includes("refresh_token") &&
        "The server does not list the grant type refresh_token.";
    },
  },
  {
    ...ABOUT,
    id: "device_endpoint_missing", // GitLab
    standard: "RFC 8628, section 4",
    operator: "Publish the `device_authorization_endpoint`, and the grant by " +
      "its whole name.",
    client: "With this library: `codeFlow`.",
    shows: ["device_authorization_endpoint", "grant_types_supported"],
    find: (_, server) =>
      listIn(server, "grant_types")?.some((one) =>
        /\bdevice_code$/.test(one)
      ) &&
      !server.device_authorization_endpoint &&
      "The server lists the device flow, but no endpoint for it.",
  },
  {
    ...ABOUT,
    id: "query_mode_not_listed", // Vercel
    standard:
      "RFC 8414, section 2; OAuth 2.0 Multiple Response Types, section 2.1",
    operator: "List `query` in `response_modes_supported`.",
    client: "This library uses the default, `query`, all the same.",
    shows: ["response_modes_supported"],
    find(_, server) {
      const modes = listIn(server, "response_modes");
      return modes && !modes.includes("query") &&
        `The server does not list the response mode query, but ${
          list(modes) || "none"
        }.`;
    },
  },
  {
    ...ABOUT,
    id: "revocation_at_token_endpoint", // Notion
    standard: "RFC 7009, section 2.1",
    operator: "Serve revocation at an endpoint of its own.",
    client: "This library revokes without `grant_type`.",
    shows: ["revocation_endpoint", "token_endpoint"],
    find: (_, { revocation_endpoint, token_endpoint }) =>
      Boolean(token_endpoint) && revocation_endpoint === token_endpoint &&
      "The revocation endpoint is the token endpoint.",
  },
  {
    ...ABOUT,
    id: "pushed_requests_required", // atproto
    severity: "info",
    standard: "RFC 9126, section 5",
    operator: "Nothing, if all clients can push their requests.",
    client: "This library pushes the authorization request.",
    shows: [
      "require_pushed_authorization_requests",
      "pushed_authorization_request_endpoint",
    ],
    find: (_, server) =>
      server.require_pushed_authorization_requests === true &&
      (server.pushed_authorization_request_endpoint
        ? "The server requires pushed authorization requests."
        : {
          message: "The server requires pushed authorization requests, but " +
            "has no endpoint for them.",
          severity: "error",
        }),
  },
  {
    ...ABOUT,
    id: "signed_requests_required", // Authelia, authelia/authelia PR#13137
    severity: "error",
    standard: "RFC 9101, section 10.5",
    operator: "Accept requests with plain parameters.",
    shows: ["require_signed_request_object"],
    find: (_, server) =>
      server.require_signed_request_object === true &&
      "The server requires signed request objects.",
  },
];
