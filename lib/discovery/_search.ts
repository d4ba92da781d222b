/** Strict search for metadata: what is found must speak of whom it was asked. */

import { discover } from "./_attempts.ts";
import { ENDPOINT_NAMES, requireSafeUrl } from "../core/_endpoint.ts";
import { mergeHeaders } from "../http/_request.ts";
import { coversTarget, isSameIssuer } from "./_identifiers.ts";
import {
  type IReply,
  quoteServerText,
  withoutNulls,
} from "../http/_response.ts";
import {
  parseUrl,
  shownUrl,
  webUrl,
  withoutCredentials,
} from "../core/_url.ts";
import { type IDiscoveryAttempt, OAuthClientError } from "../core/errors.ts";
import {
  isAuthorizationProtectedResourceMetadata,
  isAuthorizationServerMetadata,
} from "../core/guards.ts";
import type {
  IRequestOptions,
  RequestPurpose,
} from "../http/request_options.ts";
import {
  getAuthorizationServerMetadataUrls,
  getResourceMetadataUrls,
  preferFirst,
} from "./metadata_urls.ts";

/** Options of a whole search. */
export interface ISearchOptions extends IRequestOptions {
  allowHttp?: boolean | undefined;
}

/** How metadata of a resource is searched for. */
export interface IResourceSearch {
  resourceMetadataUrl: string | undefined;
  resourceMatch: "parent" | "exact" | undefined;
  headers: Readonly<Record<string, string>> | undefined;
}

/** How metadata of an authorization server is searched for. */
export interface IServerSearch {
  trustedIssuers: readonly string[] | undefined;
  preferredUrl: string | undefined;
  headers: Readonly<Record<string, string>> | undefined;
}

const JSON_ONLY = { Accept: "application/json" };

/** Metadata without addresses such as `javascript:`, which a user might be shown. */
function withoutOddAddresses<T extends object>(metadata: T): T {
  const isOdd = ([name, value]: [string, unknown]) =>
    /_(uri|endpoint|documentation)$/.test(name) &&
    typeof value === "string" && !webUrl(value);
  return Object.entries(metadata).some(isOdd)
    ? Object.fromEntries(
      Object.entries(metadata).filter((member) => !isOdd(member)),
    ) as T
    : metadata;
}

/** What came of an address, in a few words and without the body of a reply. */
function summaryOf(error: Error | undefined): string {
  if (!(error instanceof OAuthClientError)) return String(error?.message);
  const { code, status, cause, message } = error;
  if (code === "identifier_mismatch") return message;
  if (code === "unexpected_status") return String(status);
  return cause instanceof Error ? `${code}: ${cause.message}` : code;
}

/** One search: its options, and every address that it tried. */
export class MetadataSearch {
  readonly attempts: IDiscoveryAttempt[] = [];

  constructor(readonly options: ISearchOptions) {}

  /** The failure of the whole, with what came of every address. */
  failed(problem: string, cause?: unknown): OAuthClientError {
    const { attempts } = this;
    const answers = attempts.filter(({ error }) => error)
      .map(({ url, error }) => `${url} (${summaryOf(error)})`);
    const tried = answers.join(", ") || "nothing";
    return new OAuthClientError(
      "discovery_failed",
      quoteServerText(`${problem}. Tried: ${tried}`),
      { attempts, ...(cause !== undefined && { cause }) },
    );
  }

  /** The first accepted document of these addresses; undefined for none. */
  async #first<Metadata>(
    purpose: RequestPurpose,
    urls: readonly string[],
    headersFor: (url: string) => Record<string, string>,
    accept: (body: unknown, reply: IReply, url: string) => Metadata | undefined,
    onFailure: (failure: Error) => void = () => {},
  ) {
    const name = `The address of ${purpose.replaceAll("_", " ")}`;
    const attempts = urls.map((url) => ({
      url,
      headers: headersFor(url),
      check: () => void requireSafeUrl(name, url, this.options.allowHttp),
      accept: (body: unknown, reply: IReply) =>
        accept(withoutNulls(body), reply, url),
    }));
    try {
      const found = await discover(purpose, attempts, {
        ...this.options,
        onFailure: (url, error) => {
          this.attempts.push({ url: withoutCredentials(url), error });
          onFailure(error);
        },
      });
      this.attempts.push({ url: found.discoveryUrl });
      return found;
    } catch (failure) {
      this.options.signal?.throwIfAborted();
      const { code } = failure as OAuthClientError;
      if (code === "discovery_failed" || code === "timeout") throw failure;
      return undefined;
    }
  }

  /** Metadata of the resource; a document about another resource ends it all. */
  async findResource(
    target: URL,
    { resourceMetadataUrl, resourceMatch = "parent", headers }: IResourceSearch,
  ) {
    return await this.#first(
      "resource_metadata",
      getResourceMetadataUrls(target.href, resourceMetadataUrl),
      (url) =>
        mergeHeaders(
          JSON_ONLY,
          parseUrl(url)?.origin === target.origin ? headers : undefined,
        ),
      (body, reply, url) => {
        if (!isAuthorizationProtectedResourceMetadata(body)) return undefined;
        const { resource } = body;
        if (
          typeof resource === "string" &&
          coversTarget(resource, target, resourceMatch)
        ) return withoutOddAddresses(body);
        throw reply.error(
          "identifier_mismatch",
          `Resource metadata from ${url} speaks of ` +
            `${reply.quoteJson(shownUrl(resource))}, not of ${target.href}`,
        );
      },
      (failure) => {
        if ((failure as OAuthClientError).code === "identifier_mismatch") {
          throw this.failed(
            `${target.href} is described as another resource`,
            failure,
          );
        }
      },
    );
  }

  /** Metadata of a server that says of itself what it was called. */
  async findServer(
    issuer: string,
    { trustedIssuers = [], preferredUrl, headers }: IServerSearch,
  ) {
    const requestHeaders = mergeHeaders(JSON_ONLY, headers, JSON_ONLY);
    return await this.#first(
      "authorization_server_metadata",
      preferFirst(getAuthorizationServerMetadataUrls(issuer), preferredUrl),
      () => requestHeaders,
      (body, reply, url) => {
        if (!isAuthorizationServerMetadata(body)) return undefined;
        if (
          !isSameIssuer(body.issuer, issuer) &&
          !trustedIssuers.includes(body.issuer)
        ) {
          throw reply.error(
            "identifier_mismatch",
            `Authorization server metadata from ${url} is of the issuer ` +
              `${reply.quoteJson(shownUrl(body.issuer))}, not of ${issuer}`,
          );
        }
        for (const name of ENDPOINT_NAMES) {
          if (!body[name]) continue;
          requireSafeUrl(`The ${name}`, body[name], this.options.allowHttp);
        }
        return withoutOddAddresses(body);
      },
    );
  }
}
