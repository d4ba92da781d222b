import { type Hint, isOAuthClientError } from "@oauth-helper/client";

/** The settings of a program. */
const SETTINGS: Partial<Record<Hint["option"], string>> = {
  allowHttp: "Allow http for this server",
  client: "Enter the client ID of your app",
};

/** Returns the settings that may help after an error. */
export function offeredSettings(error: unknown): string[] {
  if (!isOAuthClientError(error)) return [];
  return (error.hints ?? []).flatMap(({ option }) => SETTINGS[option] ?? []);
}
