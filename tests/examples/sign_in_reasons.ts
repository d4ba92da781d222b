import type { OnEvent } from "@oauth-helper/client";

/** Prints why a user is asked to sign in again, and what came before. */
export const onEvent: OnEvent = (event) => {
  if (event.type === "session_dropped") {
    console.error(`The session is no longer valid: ${event.message}`);
  } else if (event.type === "step_up") {
    console.error("The API requires more:", event.scopes ?? event.acr_values);
  } else if (event.type === "sign_in_started") {
    console.error(`Please sign in at ${event.issuer} (${event.reason})`);
  }
};
