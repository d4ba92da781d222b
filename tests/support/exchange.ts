/** One GET and one POST through the public API, for tests of the transport. */

import { assertInstanceOf } from "@std/assert";
import {
  fetchResourceMetadata,
  fetchToken,
  type FetchTokenOptions,
  OAuthClientError,
} from "../../mod.ts";
import { API, PRM, SERVER, TOKEN_ENDPOINT } from "./fixtures.ts";
import { type Answer, json } from "./stub_fetch.ts";

/** An operation that makes one request. */
export interface Exchange {
  readonly name: string;
  readonly url: string;
  readonly good: Answer;
  send(options?: FetchTokenOptions): Promise<unknown>;
}

/** Requests the metadata of a resource whose path is `/`. */
export const GET: Exchange = {
  name: "fetchResourceMetadata()",
  url: PRM,
  good: json({ resource: API }),
  send: (options) => fetchResourceMetadata(API, undefined, options),
};

export const POST: Exchange = {
  name: "fetchToken()",
  url: TOKEN_ENDPOINT,
  good: json({ access_token: "t", token_type: "Bearer" }),
  send: (options) =>
    fetchToken(SERVER, new URLSearchParams({ code: "s3cret-code" }), options),
};

export async function errorOf(
  operation: Promise<unknown>,
): Promise<OAuthClientError> {
  const error = await operation.then(() => "no error", (error) => error);
  assertInstanceOf(error, OAuthClientError);
  return error;
}

/** Lets everything that promises have set going come to its end. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}
