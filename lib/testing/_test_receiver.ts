import { OAuthClientError } from "../core/errors.ts";
import { underSignal } from "../http/_clock.ts";
import type { ServersClock } from "./_servers_clock.ts";
import type { TestReceiver, TestServers } from "./servers.ts";

/** How long a receiver waits for the user, like the receivers of `./native`. */
const VISIT_MS = 300_000;

/** Creates the user who signs in without a browser. */
export function createReceiver(
  fetch: TestServers["fetch"],
  clock: ServersClock,
  isAway: () => boolean,
): TestReceiver {
  return {
    redirectUri: "http://127.0.0.1:33418/callback",
    clientMetadata: { client_name: "Test" },
    async visit(url, { signal } = {}) {
      const endsAt = clock.now() + VISIT_MS;
      const response = await fetch(url, signal ? { signal } : {});
      const location = response.headers.get("Location");
      if (location !== null) return location;
      if (response.ok && isAway()) {
        await underSignal(signal, () => clock.reach(endsAt));
        const message = "The user has not signed in within 5 minutes";
        throw new OAuthClientError("timeout", message);
      }
      throw new Error(
        `The user sees a page: ${response.status} ${await response.text()}`,
      );
    },
  };
}
