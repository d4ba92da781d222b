/** Asking one address after another until one gives the document looked for. */

import { exchange } from "../http/_request.ts";
import type { IReply } from "../http/_response.ts";
import type { OAuthClientError } from "../core/errors.ts";
import type {
  IRequestOptions,
  RequestPurpose,
} from "../http/request_options.ts";
import type { IDiscoveryResult } from "../core/types.ts";

/** One address, and how to judge the document that stands there. */
export interface IAttempt<Metadata> {
  readonly url: string;
  readonly headers: Record<string, string>;
  /** Fails, and says why, when the address is not to be asked. */
  check?(): void;
  /** The document, or nothing when it is of no use; may fail and say why. */
  accept(body: unknown, reply: IReply): Metadata | undefined;
}

/** How a sequence of attempts is run. */
export interface IDiscoverOptions extends IRequestOptions {
  /** Told of every failed attempt; may fail itself, which ends the sequence. */
  onFailure?(url: string, failure: Error): void;
}

/** The failure as it is collected: what `fetch` itself threw stays itself. */
function collected(failure: unknown): Error {
  const { code, cause, status } = failure as OAuthClientError;
  return code === "network_error" && status === undefined &&
      cause instanceof Error
    ? cause
    : failure as Error;
}

/**
 * The first document that is accepted. A failed attempt leads to the next one; an
 * abort and a time-out end the whole, for a server that is silent once is silent
 * thrice.
 */
export async function discover<Metadata>(
  purpose: RequestPurpose,
  attempts: readonly IAttempt<Metadata>[],
  { onFailure, ...options }: IDiscoverOptions,
): Promise<IDiscoveryResult<Metadata>> {
  const errors: Error[] = [];
  const failed = `Failed to fetch ${purpose.replaceAll("_", " ")} from `;
  for (const attempt of attempts) {
    const { url, headers, accept } = attempt;
    try {
      attempt.check?.();
      const metadata = await exchange(
        { url, purpose, headers },
        options,
        async (reply) => {
          const { status } = reply;
          let cause: unknown;
          try {
            const found = status === 200 && accept(await reply.json(), reply);
            if (found) return found;
          } catch (failure) {
            const { url, code, message } = failure as OAuthClientError;
            // One that names its address speaks for itself.
            if (url) throw failure;
            cause = code ? reply.error(code, message) : failure;
          }
          throw reply.error(
            status === 200 ? "invalid_metadata" : "unexpected_status",
            `${failed}${url}: ${status} ${reply.quote(await reply.text())}`,
            cause === undefined ? {} : { cause },
          );
        },
      );
      return { metadata, discoveryUrl: url, errors };
    } catch (failure) {
      options.signal?.throwIfAborted();
      onFailure?.(url, failure as Error);
      if ((failure as OAuthClientError).code === "timeout") throw failure;
      errors.push(collected(failure));
    }
  }
  if (errors.length === 1) throw errors[0];
  throw new AggregateError(errors, `${failed}all attempted URLs`);
}
