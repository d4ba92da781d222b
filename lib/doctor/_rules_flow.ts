/** Findings about what a client needs after discovery. */

import { type Members, stringsIn } from "../core/_members.ts";
import { GRANT_TYPE_DEVICE_CODE } from "../core/constants.ts";
import { isWebUrl } from "../core/_url.ts";
import { type IFacts, list, membersOf, sentence } from "./_facts.ts";
import { type IRule, type ISighting, liftedBy } from "./_rules.ts";

/** Applies a test to the metadata of the server, accepted or not. */
function inServer(
  test: (
    server: Members,
    facts: IFacts,
  ) => string | false | Omit<ISighting, "url"> | undefined,
): IRule["find"] {
  return (facts) => {
    const { server, serverDocuments } = facts;
    const found = server && test(server, facts);
    if (!found) return undefined;
    const { url = "" } = serverDocuments.find(({ metadata }) => metadata) ??
      serverDocuments.find(membersOf) ?? {};
    return { ...(typeof found === "string" ? { message: found } : found), url };
  };
}

/** Returns a list of the server; undefined if there is none. */
function listIn(server: Members, name: string): string[] | undefined {
  return stringsIn(server[`${name}_supported`]);
}

function methodsOf(server: Members): string[] {
  return listIn(server, "token_endpoint_auth_methods") ??
    ["client_secret_basic"];
}

const hasCodeFlow = (server: Members) => Boolean(server.authorization_endpoint);

/** Checks whether a grant other than the code flow is listed. */
function hasOtherGrant(server: Members): boolean {
  return listIn(server, "grant_types")
    ?.some((grant) => /client_credentials|device_code/.test(grant)) ?? false;
}

const isRegistrable = ({ registration_endpoint: endpoint }: Members) =>
  typeof endpoint === "string" && isWebUrl(endpoint);

/** The findings about the parts of a flow. */
export const FLOW_RULES: readonly IRule[] = [
  {
    id: "pkce_not_listed",
    severity: "error",
    standard: "RFC 8414, section 2; RFC 7636, section 4.2",
    operator: 'Publish `"code_challenge_methods_supported": ["S256"]`.',
    client:
      "With this library: `assumePkce: true`, if the server is known to " +
      "support PKCE.",
    find: inServer((server, { options, signIn }) => {
      const isMissing = hasCodeFlow(server) &&
        !listIn(server, "code_challenge_methods");
      return isMissing && liftedBy({
        message: "The server does not list its PKCE methods.",
        severity: options.assumePkce ? "warning" : "error",
        ...(signIn?.session && signIn.flow === "code" && {
          client:
            "With this library: `assumePkce: true`. The sign-in of this " +
            "diagnosis has succeeded with PKCE.",
        }),
      }, { name: "assumePkce", value: true });
    }),
  },
  {
    id: "pkce_without_s256",
    severity: "error",
    standard: "RFC 7636, section 4.2; RFC 9700, section 2.1.1",
    operator: "Support `S256`, and list it.",
    find: inServer((server) => {
      const methods = listIn(server, "code_challenge_methods");
      return hasCodeFlow(server) && methods &&
        !methods.includes("S256") &&
        `The server lists no PKCE method S256, but ${list(methods) || "none"}.`;
    }),
  },
  {
    id: "no_token_endpoint",
    severity: "error",
    standard: "RFC 8414, section 2",
    operator: "Publish the `token_endpoint`.",
    find: inServer((server) =>
      !server.token_endpoint && "The server has no token endpoint."
    ),
  },
  {
    id: "no_authorization_endpoint",
    severity: "error",
    standard: "RFC 8414, section 2",
    operator: "Publish the `authorization_endpoint`.",
    client:
      "With this library: `clientCredentialsFlow` or `deviceFlow`, where " +
      "the server lists the grant.",
    find: inServer((server) =>
      !hasCodeFlow(server) && {
        message: "The server has no authorization endpoint.",
        severity: hasOtherGrant(server) ? "info" : "error",
      }
    ),
  },
  {
    id: "no_registration",
    standard: "RFC 7591, section 3; MCP 2025-11-25, authorization",
    operator:
      "Offer dynamic registration, or accept client metadata documents.",
    client: "With this library: `client`, set to one that the operator has " +
      "registered.",
    find: inServer((server) =>
      !isRegistrable(server) &&
      server.client_id_metadata_document_supported !== true &&
      "The server offers neither registration nor client metadata documents."
    ),
  },
  {
    id: "documents_only",
    severity: "info",
    standard: "OAuth Client ID Metadata Document, section 3",
    operator: "Nothing, if every client has a URL for its document.",
    client: "With this library: `clientMetadataUrl`, the https URL of your " +
      "client metadata document.",
    find: inServer((server) =>
      !isRegistrable(server) &&
      server.client_id_metadata_document_supported === true &&
      "The server accepts client metadata documents, and offers no registration."
    ),
  },
  {
    id: "registration_failed",
    severity: "error",
    standard: "RFC 7591, section 3.2",
    operator: "Accept a native client with a loopback redirect URI.",
    client: "With this library: `client`, set to one that the operator has " +
      "registered.",
    find({ registration, context }) {
      const { error } = registration ?? {};
      // The client was registered, but cannot be used: that is another finding.
      if (error?.code === "unsupported") return undefined;
      const { status = 0 } = error ?? {};
      // With any other status, a later attempt may succeed.
      const isFinal = status >= 400 && status < 500 &&
        ![408, 425, 429].includes(status);
      return liftedBy(
        error && {
          message: sentence(error),
          url: context?.serverMetadata.registration_endpoint ?? "",
          at: "registration",
        },
        ...(isFinal ? [{ name: "client" as const }] : []),
      );
    },
  },
  {
    id: "public_client_not_listed",
    severity: "info",
    standard: "RFC 8414, section 2; RFC 8252, section 8.4",
    operator: "List `none` in `token_endpoint_auth_methods_supported`.",
    client: "This library registers a method that the server lists.",
    find: inServer((server) =>
      isRegistrable(server) && !methodsOf(server).includes("none") &&
      `Clients can register, but not without a secret: ${
        list(methodsOf(server))
      }.`
    ),
  },
  {
    id: "auth_methods_need_key",
    standard: "RFC 8414, section 2; RFC 7523, section 2.2",
    operator: "Allow `none` or a client secret as well.",
    client:
      "With this library: `client`, of `privateKeyJwt` or `clientAssertion`.",
    find: inServer((server) => {
      const usual = ["none", "client_secret_basic", "client_secret_post"];
      return !methodsOf(server).some((method) => usual.includes(method)) && {
        message: `Every authentication method needs a key: ${
          list(methodsOf(server))
        }.`,
        options: [{ name: "client" }],
      };
    }),
  },
  {
    id: "client_secret_post_only",
    severity: "info",
    standard: "RFC 6749, section 2.3.1",
    operator: "Support `client_secret_basic`, which is mandatory.",
    client: "This library uses it; with credentials: `clientSecretPost`.",
    find: inServer((server) => {
      const methods = methodsOf(server);
      return methods.length === 1 && methods[0] === "client_secret_post" &&
        "The only authentication method is client_secret_post.";
    }),
  },
  {
    id: "code_grant_not_listed",
    standard: "RFC 8414, section 2",
    operator: "List `authorization_code` in `grant_types_supported`.",
    find: inServer((server) => {
      const grants = listIn(server, "grant_types");
      return hasCodeFlow(server) && grants &&
        !grants.includes("authorization_code") &&
        "The server has an authorization endpoint, but does not list the " +
          "grant type authorization_code.";
    }),
  },
  {
    id: "refresh_grant_not_listed",
    severity: "info",
    standard: "RFC 8414, section 2; RFC 6749, section 6",
    operator: "List `refresh_token`, if refresh tokens are issued.",
    client:
      "Some servers issue refresh tokens all the same; else the user signs " +
      "in again.",
    find: inServer((server) => {
      const grants = listIn(server, "grant_types");
      return grants?.includes("authorization_code") &&
        !grants.includes("refresh_token") &&
        "The server does not list the grant type refresh_token.";
    }),
  },
  {
    id: "device_grant_misnamed",
    standard: "RFC 8628, section 4",
    operator: `List \`${GRANT_TYPE_DEVICE_CODE}\`.`,
    client: "This library needs the `device_authorization_endpoint` alone.",
    find: inServer((server) => {
      const grants = listIn(server, "grant_types");
      return grants?.includes("device_code") &&
        !grants.includes(GRANT_TYPE_DEVICE_CODE) &&
        "The server lists the grant type device_code, which has another name.";
    }),
  },
  {
    id: "device_endpoint_missing",
    standard: "RFC 8628, section 4",
    operator: "Publish the `device_authorization_endpoint`.",
    client: "With this library: `codeFlow`.",
    find: inServer((server) => {
      const grants = listIn(server, "grant_types") ?? [];
      return grants.some((grant) => /\bdevice_code$/.test(grant)) &&
        !server.device_authorization_endpoint &&
        "The server lists the device flow, but no endpoint for it.";
    }),
  },
  {
    id: "code_response_not_listed",
    standard: "RFC 8414, section 2",
    operator: 'Publish `"response_types_supported": ["code"]`.',
    find: inServer((server) => {
      const types = listIn(server, "response_types");
      return hasCodeFlow(server) && !types?.includes("code") &&
        (types
          ? "The server does not list the response type code."
          : "The server does not list its response types.");
    }),
  },
  {
    id: "query_mode_not_listed",
    standard:
      "RFC 8414, section 2; OAuth 2.0 Multiple Response Types, section 2.1",
    operator: "List `query` in `response_modes_supported`.",
    client: "This library uses the default, `query`, all the same.",
    find: inServer((server) => {
      const modes = listIn(server, "response_modes");
      return modes && !modes.includes("query") &&
        `The server does not list the response mode query, but ${
          list(modes) || "none"
        }.`;
    }),
  },
  {
    id: "revocation_at_token_endpoint",
    standard: "RFC 7009, section 2.1",
    operator: "Serve revocation at an endpoint of its own.",
    client: "This library revokes without `grant_type`.",
    find: inServer(({ revocation_endpoint, token_endpoint }) =>
      Boolean(token_endpoint) && revocation_endpoint === token_endpoint &&
      "The revocation endpoint is the token endpoint."
    ),
  },
  {
    id: "iss_not_supported",
    severity: "info",
    standard: "RFC 9207, section 2",
    operator:
      "Send `iss`, and publish `authorization_response_iss_parameter_supported`.",
    client:
      "With several servers: a redirect URI of its own for each, with the " +
      "`issuer` that `redirectUri` receives. `requireIss: true` refuses a " +
      "response without `iss`. A client metadata document has no other defence " +
      "against a mix-up.",
    find: inServer((server, { signIn }) => {
      const isPromised = ![undefined, false].includes(
        server.authorization_response_iss_parameter_supported as undefined,
      );
      if (!hasCodeFlow(server) || isPromised) return undefined;
      const { callback } = signIn ?? {};
      const isSent = callback ? callback.has("iss") : undefined;
      return "The metadata does not promise that authorization responses name " +
        "their issuer" +
        (isSent === undefined
          ? "."
          : isSent
          ? ", although this one does."
          : ", and this one does not.");
    }),
  },
  {
    id: "pushed_requests_required",
    severity: "info",
    standard: "RFC 9126, section 5",
    operator: "Nothing, if all clients can push their requests.",
    client: "This library pushes the authorization request.",
    find: inServer((server) =>
      server.require_pushed_authorization_requests === true && {
        message: server.pushed_authorization_request_endpoint
          ? "The server requires pushed authorization requests."
          : "The server requires pushed authorization requests, but has no " +
            "endpoint for them.",
        severity: server.pushed_authorization_request_endpoint
          ? "info"
          : "error",
      }
    ),
  },
  {
    id: "signed_requests_required",
    severity: "error",
    standard: "RFC 9101, section 10.5",
    operator: "Accept requests with plain parameters.",
    find: inServer((server) =>
      server.require_signed_request_object === true &&
      "The server requires signed request objects."
    ),
  },
];
