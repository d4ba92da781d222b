/**
 * The requests and responses of Node's servers, such as Express.
 *
 * @module
 */

import { isMembers } from "../core/_members.ts";
import type { WebRequest } from "./web_sign_in_options.ts";

/** The part of a request of `node:http` or Express that is used. */
export interface NodeRequest {
  /** The method of the request, such as `GET`. */
  readonly method?: string | undefined;
  /** The path with its query. */
  readonly url?: string | undefined;
  /** The same, before a router of Express removed a part of it. */
  readonly originalUrl?: string | undefined;
  /** The header fields, with names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** What a parser of Express, such as `express.urlencoded()`, made of the body. */
  readonly body?: unknown;
}

/** Returns the body of a request, which only the parser has if there is one. */
function bodyOf(request: NodeRequest): WebRequest["body"] {
  const { body } = request;
  // `express.json()` leaves a form unread, and sets `{}`.
  return isMembers(body) && Object.keys(body).length > 0
    ? new URLSearchParams(body as Record<string, string>)
    : Symbol.asyncIterator in request
    ? request as NodeRequest & AsyncIterable<Uint8Array>
    : undefined;
}

/** The part of a response of `node:http` or Express that is used. */
export interface NodeResponse {
  /** The status to send. */
  statusCode: number;
  /** Replaces a header field. */
  setHeader(name: string, value: string): unknown;
  /** Adds a header field. */
  appendHeader(name: string, value: string): unknown;
  /** Sends the response. */
  end(body: Uint8Array): unknown;
}

/**
 * Converts a request of a Node server for the functions of {@linkcode WebSignIn}.
 *
 * @param request The request.
 *
 * @example Express
 * ```ts
 * import { sendResponse, webRequestOf } from "@oauth-helper/client/web";
 * import type { WebSignIn } from "@oauth-helper/client/web";
 * // @ts-types="@types/express"
 * import express from "express";
 *
 * export function appOf(signIn: WebSignIn) {
 *   const app = express();
 *   app.use(async (request, response, next) => {
 *     const handled = await signIn.handle(webRequestOf(request));
 *     return handled ? await sendResponse(handled, response) : next();
 *   });
 *   return app;
 * }
 * ```
 */
export function webRequestOf(request: NodeRequest): WebRequest {
  const { method = "GET", url = "/", originalUrl = url, headers } = request;
  const get = (name: string) => {
    const value = headers[name.toLowerCase()];
    return value === undefined ? null : [value].flat().join(", ");
  };
  const body = method === "POST" ? bodyOf(request) : undefined;
  return { method, url: originalUrl, headers: { get }, body };
}

/**
 * Sends a response of {@linkcode WebSignIn} with a Node server. Cookies that were set
 * before are kept.
 *
 * @param response The response.
 * @param target The response of the server.
 *
 * @example A route that starts a sign-in
 * ```ts
 * import { sendResponse, webRequestOf } from "@oauth-helper/client/web";
 * import type { WebSignIn } from "@oauth-helper/client/web";
 * import type { IncomingMessage, ServerResponse } from "node:http";
 *
 * export const createRoute =
 *   (signIn: WebSignIn) =>
 *   async (request: IncomingMessage, response: ServerResponse) =>
 *     await sendResponse(await signIn.login(webRequestOf(request)), response);
 * ```
 */
export async function sendResponse(
  response: Response,
  target: NodeResponse,
): Promise<void> {
  target.statusCode = response.status;
  for (const [name, value] of response.headers) {
    if (name === "set-cookie") target.appendHeader(name, value);
    else target.setHeader(name, value);
  }
  target.end(new Uint8Array(await response.arrayBuffer()));
}
