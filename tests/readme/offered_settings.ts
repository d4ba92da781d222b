import { type Hint, isOAuthClientError } from "@oauth-helper/client";

/** The settings that a program has, in its own words. */
const SETTINGS: Partial<Record<Hint["option"], string>> = {
  allowHttp: "Allow http for this server",
  client: "Enter the client ID of your app",
  resourceIndicator: "Leave out the name of the API",
};

/** Returns what a user can change after an error: buttons in place of a message. */
export function offeredSettings(error: unknown): string[] {
  if (!isOAuthClientError(error)) return [];
  return (error.hints ?? []).flatMap(({ option }) => SETTINGS[option] ?? []);
}
