/** Token requests at a stubbed server. */

import { assertInstanceOf } from "@std/assert";
import {
  fetchToken,
  type FetchTokenOptions,
  OAuthClientError,
  type Token,
} from "../../mod.ts";
import { SERVER, TOKEN_ENDPOINT } from "./fixtures.ts";
import { type Answer, stubFetch } from "./stub_fetch.ts";

export const GRANTED: Answer = () => Response.json({ access_token: "t" });

/**
 * Requests a token at the time of 1000.9 s: the token or the error, and what was
 * requested.
 */
export async function requestToken(
  answer: Answer,
  options: FetchTokenOptions = {},
  form: URLSearchParams = new URLSearchParams({ a: "1" }),
) {
  using stubbed = stubFetch({ [TOKEN_ENDPOINT]: answer });
  const { fetch, requests } = stubbed;
  const result: Token | OAuthClientError = await fetchToken(SERVER, form, {
    fetch,
    now: () => 1_000_900,
    ...options,
  }).catch((error) => error);
  return { result, requests };
}

export async function tokenOf(
  ...args: Parameters<typeof requestToken>
): Promise<Token> {
  const { result } = await requestToken(...args);
  if (result instanceof Error) throw result;
  return result;
}

export async function tokenErrorOf(
  ...args: Parameters<typeof requestToken>
): Promise<OAuthClientError> {
  const { result } = await requestToken(...args);
  assertInstanceOf(result, OAuthClientError);
  return result;
}
