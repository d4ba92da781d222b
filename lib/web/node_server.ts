import { isMembers } from "../core/_members.ts";
import { streamOf } from "./_body_stream.ts";
import type { WebRequest } from "./web_sign_in_options.ts";

/** The used part of a request of `node:http` or Express. */
export interface NodeRequest {
  /** The method of the request, such as `GET`. */
  readonly method?: string | undefined;
  /** The path with its query. */
  readonly url?: string | undefined;
  /** The same, before an Express router removed a part. */
  readonly originalUrl?: string | undefined;
  /** The header fields, with names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as an Express parser, such as `express.urlencoded()`, read it. */
  readonly body?: unknown;
  /** Whether anything has read the body, such as a parser. */
  readonly readableDidRead?: boolean | undefined;
}

/** Only a parser has the body that it read. */
function bodyOf(request: NodeRequest): WebRequest["body"] {
  const { body } = request;
  // `express.json()` leaves a form unread, and sets `{}`.
  return isMembers(body) && Object.keys(body).length > 0
    ? new URLSearchParams(body as Record<string, string>)
    : Symbol.asyncIterator in request
    ? streamOf(request as NodeRequest & AsyncIterable<Uint8Array>)
    : undefined;
}

/** The used part of a response of `node:http` or Express. */
export interface NodeResponse {
  /** The status to send. */
  statusCode: number;
  /** Replaces a header field. */
  setHeader(name: string, value: string): unknown;
  /** Adds a header field. */
  appendHeader(name: string, value: string): unknown;
  /** Whether the connection was closed. */
  readonly destroyed?: boolean | undefined;
  /** Whether `end()` was called. */
  readonly writableEnded?: boolean | undefined;
  /** Sends a part of the body; returns false if the next part should wait for `drain`. */
  write(chunk: Uint8Array): boolean;
  /** Finishes the response. */
  end(): unknown;
  /** Closes the connection, so that an incomplete body does not look complete. */
  destroy(): unknown;
  /** Calls a function when the connection is closed, or accepts the next part. */
  on(event: "close" | "drain", listener: () => void): unknown;
}

/**
 * Converts a request of a Node server for the functions of {@linkcode WebSignIn}.
 *
 * @param request The request.
 * @param response Its response: then the result's `signal` aborts when the browser
 * leaves.
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
export function webRequestOf(
  request: NodeRequest,
  response?: NodeResponse,
): WebRequest {
  const { method = "GET", url = "/", originalUrl = url, headers } = request;
  const get = (name: string) => {
    const value = headers[name.toLowerCase()];
    return value === undefined ? null : [value].flat().join(", ");
  };
  const controller = new AbortController();
  const leave = () => {
    if (!response?.writableEnded) controller.abort();
  };
  response?.on("close", leave);
  if (response?.destroyed) leave();
  return {
    method,
    url: originalUrl,
    headers: { get },
    body: /^(GET|HEAD)$/.test(method) ? undefined : bodyOf(request),
    bodyUsed: request.readableDidRead === true,
    signal: response && controller.signal,
  };
}

/**
 * Sends a response of {@linkcode WebSignIn} with a Node server. Keeps cookies that were
 * set before.
 *
 * The header fields are sent first, then the body at the browser's speed. If the
 * browser leaves, the body is canceled. If the body fails, the connection is closed.
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
  const reader = response.body?.getReader();
  if (!reader) return void target.end();
  let isClosed = false;
  let goOn = () => {};
  const leave = () => {
    isClosed = true;
    goOn();
    // The API need not send an unread body, and `read()` returns.
    reader.cancel().catch(() => {});
  };
  target.on("drain", () => goOn());
  target.on("close", leave);
  if (target.destroyed) leave();
  // An empty chunk sends the header fields: `flushHeaders()` would encode them as
  // UTF-8.
  let chunk: Uint8Array = new Uint8Array();
  try {
    while (!isClosed) {
      const isReady = target.write(chunk);
      if (!isReady) await new Promise<void>((resolve) => goOn = resolve);
      const { done, value } = await reader.read();
      if (done) break;
      chunk = value;
    }
    target.end();
  } catch {
    target.destroy();
  }
}
