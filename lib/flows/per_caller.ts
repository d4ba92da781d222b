import { requireArgument, requireNames } from "../core/_arguments.ts";
import { hashBase64Url } from "../core/_base64.ts";

/** Options of {@linkcode perCaller}. */
export interface PerCallerOptions {
  /**
   * How many tokens keep a value. Beyond that, the value that was unused for longest is
   * dropped: its fetch still works, and the caller's next request creates another.
   *
   * @default 1000
   */
  maxCallers?: number | undefined;
}

/**
 * Returns a function that creates one value for each token of a caller, such as a fetch
 * with {@linkcode exchangeFlow}. Another token of the same user has another value,
 * because it may allow less.
 *
 * Pass only tokens that your service has checked at this request.
 *
 * @param create Creates the value. `id` is the SHA-256 of the token, in base64url: use
 * it in the key of a store that several processes share. Never use one store for all
 * callers.
 * @param options How many values are kept.
 * @returns A function of the token. It rejects with `invalid_argument` for an invalid
 * token, such as an empty one or a whole `Authorization` header, and with errors of
 * `create`.
 * @throws {OAuthClientError} `invalid_argument`: an argument is invalid.
 *
 * @example Share the tokens of the API between processes
 * ```ts
 * import {
 *   createAuthorizedFetch,
 *   exchangeFlow,
 *   type KnownClient,
 *   perCaller,
 * } from "@oauth-helper/client";
 * import { type RedisClient, redisStore } from "@oauth-helper/client/stores";
 *
 * export function calendars(client: KnownClient, redis: RedisClient) {
 *   return perCaller((callerToken, id) =>
 *     createAuthorizedFetch("https://calendar.example/v1", {
 *       store: redisStore(redis, `calendar ${id}`, { lifetimeSeconds: 3600 }),
 *       flow: exchangeFlow({ client, getSubjectToken: () => callerToken }),
 *     })
 *   );
 * }
 * ```
 *
 * @category Flows
 */
export function perCaller<Value>(
  create: (token: string, id: string) => Value,
  options?: PerCallerOptions,
): (token: string) => Promise<Value> {
  const { maxCallers = 1000 } = options ?? {};
  requireNames(options ?? {}, ["maxCallers"], "perCaller");
  requireArgument(typeof create === "function", "create", "a function");
  requireArgument(maxCallers >= 1, "maxCallers", "a number of at least 1");
  const values = new Map<string, Value>();
  return async (token) => {
    // Otherwise all callers without a token would share a value, and so would two
    // tokens that are equal in UTF-8.
    requireArgument(
      typeof token === "string" && /^[\x21-\x7e]+$/.test(token),
      "token",
      "a token, without `Bearer`",
    );
    const id = await hashBase64Url(token);
    // Nothing is awaited from here on, so concurrent calls get one value.
    const value = values.has(id) ? values.get(id)! : create(token, id);
    values.delete(id);
    values.set(id, value);
    // The caller's next request tries again.
    Promise.resolve(value).catch(() =>
      values.get(id) === value && values.delete(id)
    );
    const [oldest] = values.keys();
    if (values.size > maxCallers && oldest !== undefined) values.delete(oldest);
    return value;
  };
}
