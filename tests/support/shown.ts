import { OAuthClientError } from "../../mod.ts";

/**
 * Everything that an error shows: message, members, stack, nested errors. A cause
 * that the caller's own fetch threw is kept as it is, and so not looked at.
 */
export function shown(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, stack, cause } = error;
  const { attempts = [] } = error as { attempts?: { error?: unknown }[] };
  const inner = error instanceof AggregateError ? error.errors : [];
  const nested = [...attempts.map((attempt) => attempt.error), ...inner];
  return JSON.stringify(error) + message + (stack ?? "") +
    nested.map((one) => one === undefined ? "" : shown(one)).join() +
    (cause instanceof OAuthClientError ? shown(cause) : "");
}
