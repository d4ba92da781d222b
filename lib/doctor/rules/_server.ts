/** Findings about a client's needs after discovery, by the server's metadata. */

import { type Members, stringsIn } from "../../core/_members.ts";
import { isWebUrl } from "../../core/_url.ts";
import { list } from "../_facts.ts";
import { liftedBy, REGISTERED_CLIENT, type Rule } from "./_rule.ts";

/** Returns a list of the server; undefined if it is absent. */
function listIn(server: Members, name: string): string[] | undefined {
  return stringsIn(server[`${name}_supported`]);
}

const hasCodeFlow = (server: Members) => Boolean(server.authorization_endpoint);

const isRegistrable = ({ registration_endpoint: endpoint }: Members) =>
  typeof endpoint === "string" && isWebUrl(endpoint);

const ABOUT = {
  about: "server_metadata",
  standard: "RFC 8414, section 2",
} as const;

export const SERVER_RULES: readonly Rule[] = [
  {
    ...ABOUT,
    id: "pkce_not_listed", // Cognito
    severity: "error",
    standard: "RFC 8414, section 2; RFC 7636, section 4.2",
    operator: "Support `S256`, and publish " +
      '`"code_challenge_methods_supported": ["S256"]`.',
    shows: ["code_challenge_methods_supported"],
    find({ options, signIn }, server) {
      const methods = listIn(server, "code_challenge_methods");
      if (!hasCodeFlow(server) || methods?.includes("S256")) return undefined;
      if (methods) {
        return "The server lists no PKCE method S256, but " +
          `${list(methods) || "none"}.`;
      }
      const hasSucceeded = signIn?.session && signIn.flow === "code";
      return liftedBy({
        message: "The server does not list its PKCE methods.",
        severity: options.assumePkce ? "warning" : "error",
        ...(hasSucceeded && {
          client: "The sign-in of this diagnosis has succeeded with PKCE.",
        }),
        hints: [{
          option: "assumePkce",
          value: true,
          text: hasSucceeded
            ? "set assumePkce: true"
            : "set assumePkce: true if the server is known to support PKCE",
        }],
      }, { name: "assumePkce", value: true });
    },
  },
  {
    ...ABOUT,
    id: "endpoint_missing", // Facebook, GitLab; client credentials alone
    severity: "error",
    operator: "Publish every endpoint that the grants need.",
    find(_, server) {
      const grants = listIn(server, "grant_types") ?? [];
      const lists = (grant: RegExp) => grants.some((one) => grant.test(one));
      if (!server.token_endpoint) {
        return {
          message: "The server has no token endpoint.",
          shows: ["token_endpoint"],
        };
      }
      if (!hasCodeFlow(server)) {
        return {
          message: "The server has no authorization endpoint.",
          severity: lists(/client_credentials|device_code/) ? "info" : "error",
          hints: [
            {
              option: "clientCredentialsFlow",
              text: "use clientCredentialsFlow if the server lists the grant",
            },
            {
              option: "deviceFlow",
              text: "use deviceFlow if the server lists the grant",
            },
          ],
          shows: ["authorization_endpoint"],
        };
      }
      return lists(/\bdevice_code$/) &&
        !server.device_authorization_endpoint && {
        message: "The server lists the device flow, but no endpoint for it.",
        severity: "warning",
        hints: [{ option: "codeFlow", text: "use codeFlow" }],
        shows: ["device_authorization_endpoint", "grant_types_supported"],
      };
    },
  },
  {
    ...ABOUT,
    id: "no_registration", // GitHub, Cloudflare
    standard: "RFC 7591, section 3; MCP 2025-11-25, authorization",
    operator:
      "Offer dynamic registration, or accept client metadata documents.",
    shows: [
      "registration_endpoint",
      "client_id_metadata_document_supported",
    ],
    find: (_, server) =>
      !isRegistrable(server) &&
      (server.client_id_metadata_document_supported === true
        ? {
          message: "The server registers no clients, but accepts client " +
            "metadata documents.",
          severity: "info",
          hints: [{
            option: "clientMetadataUrl",
            text: "set clientMetadataUrl to the https URL of your document",
          }],
        }
        : {
          message: "The server offers neither registration nor client " +
            "metadata documents.",
          hints: [REGISTERED_CLIENT],
        }),
  },
  {
    ...ABOUT,
    id: "auth_methods_need_key", // FAPI 2.0
    standard: "RFC 8414, section 2; RFC 7523, section 2.2",
    operator: "Allow `none` or a client secret as well.",
    hints: [{
      option: "privateKeyJwt",
      text: "set client to the result of privateKeyJwt or clientAssertion",
    }],
    shows: ["token_endpoint_auth_methods_supported"],
    find(_, server) {
      const methods = listIn(server, "token_endpoint_auth_methods");
      const usual = ["none", "client_secret_basic", "client_secret_post"];
      // The default is client_secret_basic.
      return methods && !methods.some((method) => usual.includes(method)) && {
        message: `Every authentication method needs a key: ${list(methods)}.`,
        options: [{ name: "client" }],
      };
    },
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
