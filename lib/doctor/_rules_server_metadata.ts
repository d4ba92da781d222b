/** Findings about metadata of the authorization server. */

import { isSameIssuer } from "../core/_issuer.ts";
import {
  codesOf,
  isFound,
  isMismatch,
  isNamed,
  isOpen,
  membersOf,
  shown,
} from "./_facts.ts";
import {
  findDisagreement,
  findDocument,
  type IRule,
  liftedBy,
} from "./_rules.ts";

/** The findings about metadata of the authorization server. */
export const SERVER_METADATA_RULES: readonly IRule[] = [
  {
    id: "authorization_server_refused",
    severity: "error",
    standard: "RFC 8414, section 2; RFC 9728, section 7.7",
    operator: "List an https URL of a public host.",
    client: "With this library: `allowHttp: true`, in a test environment.",
    find: (facts) =>
      facts.failure?.code === "url_refused" &&
        !facts.target.href.startsWith(facts.issuer) && facts.servers.length > 0
        ? liftedBy(
          {
            message: `${shown(facts.failure.message, 300)}.`,
            url: facts.resourceDocuments.find(membersOf)?.url ?? "",
          },
          { name: "allowHttp", value: true },
        )
        : undefined,
  },
  {
    id: "issuer_mismatch",
    standard:
      "RFC 8414, section 3.3; OpenID Connect Discovery 1.0, section 4.3",
    operator: "Name the server by exactly the `issuer` that it publishes.",
    find(facts) {
      const { serverDocuments, issuer } = facts;
      const found = findDocument(
        facts,
        serverDocuments,
        (document) =>
          isMismatch(document) &&
          `The issuer of the metadata is "${
            shown(membersOf(document)?.issuer)
          }", and the server was named "${shown(issuer)}".`,
        true,
      );
      const document = serverDocuments.find(({ url }) => url === found?.url);
      const { issuer: claimed } = (document && membersOf(document)) ?? {};
      // A URL that cannot be shown as it is may not be trusted either.
      const isPlain = [issuer, claimed].every((one) =>
        typeof one === "string" && shown(one, 500) === one
      );
      return liftedBy(
        found && {
          ...found,
          client: "With this library, if both are known to be one server: " +
            `\`trustedIssuers: { "${shown(issuer)}": "${shown(claimed)}" }\`.`,
        },
        ...(isPlain
          ? [{
            name: "trustedIssuers" as const,
            value: { [issuer]: String(claimed) },
          }]
          : []),
      );
    },
  },
  {
    id: "issuer_template",
    standard: "OpenID Connect Discovery 1.0, section 4.3",
    operator: "Name the issuer of one tenant.",
    client: "With this library: `trustedIssuers`; Entra ID also needs " +
      "`resource: false`.",
    find(facts) {
      const found = findDocument(facts, facts.serverDocuments, (document) => {
        const { issuer } = membersOf(document) ?? {};
        return typeof issuer === "string" && /\{[^{}]*\}/.test(issuer) &&
          `The issuer "${shown(issuer)}" is a template for several tenants.`;
      });
      const { issuer } = facts.server ?? {};
      // The name that Entra ID has for it. Its v2.0 endpoints refuse the parameter.
      const isEntra = found && String(issuer).includes("{tenantid}");
      return isEntra
        ? { ...found, options: [{ name: "resource", value: false }] }
        : found;
    },
  },
  {
    id: "issuer_slash",
    standard: "RFC 8414, section 3.3",
    operator: "Name the server by exactly the `issuer` that it publishes.",
    client: "This library allows a slash at the end to differ.",
    find: (facts) =>
      findDocument(
        facts,
        facts.servers.length > 0 ? facts.serverDocuments : [],
        ({ metadata }) =>
          metadata && metadata.issuer !== facts.issuer &&
          isSameIssuer(metadata.issuer, facts.issuer) &&
          `The issuer "${
            shown(metadata.issuer)
          }" differs from the identifier "${shown(facts.issuer)}" by a slash.`,
      ),
  },
  {
    id: "server_metadata_invalid",
    standard: "RFC 8414, section 2",
    operator:
      "Publish an `issuer`, and every endpoint as an http or https URL.",
    find: (facts) =>
      findDocument(
        facts,
        facts.serverDocuments,
        (document) =>
          document.json !== undefined &&
          codesOf(document)[0] === "invalid_metadata" &&
          "The JSON is not metadata of a server: " +
            `${shown(Object(document.error?.cause).message ?? "no object")}.`,
        true,
      ),
  },
  {
    id: "endpoint_refused",
    standard: "RFC 8414, section 2; RFC 6749, sections 3.1 and 3.2",
    operator: "Serve every endpoint over https at a public host.",
    client: "With this library: `allowHttp: true`, in a test environment.",
    find: (facts) =>
      liftedBy(
        findDocument(
          facts,
          facts.serverDocuments,
          (document) =>
            document.json !== undefined &&
            codesOf(document)[0] === "url_refused" &&
            `${shown(document.error?.message, 300)}.`,
          true,
        ),
        { name: "allowHttp", value: true },
      ),
  },
  {
    id: "server_documents_disagree",
    standard: "RFC 8414, section 3; OpenID Connect Discovery 1.0, section 4",
    operator: "Publish the same values in both documents.",
    client: "This library uses the first document.",
    find: (facts) => findDisagreement(facts, facts.serverDocuments, "issuer"),
  },
  {
    id: "openid_metadata_only",
    severity: "info",
    standard: "RFC 8414, section 3.1",
    operator:
      "Publish the document at `/.well-known/oauth-authorization-server` too.",
    client: "This library requests the URLs of OpenID Connect as well.",
    find({ serverDocuments }) {
      const found = serverDocuments.find(({ metadata }) => metadata);
      const [oauth] = serverDocuments.filter(({ url }) =>
        url.includes("/.well-known/oauth-authorization-server")
      );
      return found && oauth && found !== oauth && !membersOf(oauth)
        ? {
          message: "The metadata of the server is only at a URL of OpenID " +
            "Connect.",
          url: oauth.url,
        }
        : undefined;
    },
  },
  {
    id: "no_server_metadata",
    severity: "error",
    standard: "RFC 8414, section 3; MCP 2025-11-25, authorization",
    operator: "Publish metadata at the well-known URL of the issuer.",
    client:
      "With this library: `authorizationServer`, if another one is known.",
    find(facts) {
      const { serverDocuments, issuer, assumed } = facts;
      const isMissing = isNamed(facts) && facts.failure !== undefined &&
        serverDocuments.length > 0 &&
        serverDocuments.every(({ error }) =>
          error?.code === "unexpected_status" &&
          [404, 405, 410].includes(error.status ?? 0)
        );
      const isGone = assumed?.authorization.response?.status === 404 &&
        !isOpen(facts);
      if (!isMissing && !isGone) return undefined;
      return {
        message: `The authorization server ${shown(issuer)}` +
          (isMissing
            ? " publishes no metadata."
            : ", the origin of the resource, publishes no metadata and has no " +
              "/authorize."),
        url: serverDocuments[0]?.url ?? issuer,
      };
    },
  },
  {
    id: "endpoints_assumed",
    standard: "MCP 2025-03-26, authorization, section 2.3.3",
    operator: "Publish metadata of the resource and of the server.",
    client:
      "This library assumes the endpoints /authorize, /token and /register.",
    find(facts) {
      const { authorization } = facts.assumed ?? {};
      return authorization && !isOpen(facts) &&
          authorization.response?.status !== 404
        ? {
          message: "No metadata of a server is published, so its endpoints " +
            "are assumed.",
          url: authorization.url,
        }
        : undefined;
    },
  },
  {
    id: "registration_not_found",
    standard:
      "MCP 2025-03-26, authorization, section 2.3.3; RFC 7591, section 3",
    operator: "Publish metadata of the server, with its registration endpoint.",
    client: "With this library: `client`, set to one that the operator has " +
      "registered. Some servers respond so to everything but POST: " +
      "`--register` shows it.",
    find(facts) {
      const { authorization, registration } = facts.assumed ?? {};
      return registration && authorization?.response?.status !== 404 &&
          !isOpen(facts) && !facts.registration && !isFound(registration)
        ? {
          message: "A GET finds no registration endpoint at the URL that is " +
            "assumed.",
          url: registration.url,
        }
        : undefined;
    },
  },
];
