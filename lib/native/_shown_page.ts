/** Shows the user the server's page, and prints messages meanwhile. */

import { describeMs } from "../core/_quote.ts";
import { OAuthClientError } from "../core/errors.ts";
import { LONGEST_TIMER_MS } from "../http/_clock.ts";
import { onInputLine, queryInLine } from "./_paste.ts";
import type { settingsOf } from "./_receiver_settings.ts";

/** After this time, a message reminds a user who may have overlooked the browser. */
const STILL_WAITING_MS = 30_000;

type Settings = Pick<
  ReturnType<typeof settingsOf>,
  "open" | "paste" | "print" | "timeoutMs"
>;

interface ShownVisit {
  readonly state: string;
  readonly redirectUri: string;
  /** Called with the query of a pasted response. */
  resolve(query: string): void;
  reject(error: unknown): void;
}

/** Prints the URL before opening it: a command may succeed although nothing appears. */
async function openPage(
  url: string,
  { open, paste, print }: Settings,
): Promise<void> {
  const how = open
    ? "Opening the browser. If no page appears, open this URL:"
    : "Open this URL in a browser:";
  const otherwise = paste
    ? "\nIf the last page does not load, paste its URL here:"
    : "";
  print(`${how}\n${url}${otherwise}`);
  try {
    if (open) await open(url);
  } catch {
    // There is no browser, or no permission to run the command.
  }
}

/**
 * Reads pasted lines until one is the response. Returns a function that stops reading.
 */
function readPasted(
  { print }: Settings,
  { state, resolve }: ShownVisit,
): () => void {
  return onInputLine((line) => {
    const query = queryInLine(line);
    const isResponse = new URLSearchParams(query).get("state") === state;
    if (isResponse) resolve(query);
    else if (line.trim() !== "") {
      print("This is not the response to this request. Paste it again:");
    }
  });
}

/**
 * Shows a page, and waits for `timeoutMs` at most. Returns a function that stops
 * waiting.
 */
export function showPage(
  url: string,
  settings: Settings,
  visit: ShownVisit,
): () => void {
  const { paste, print, timeoutMs } = settings;
  const stopReading = paste ? readPasted(settings, visit) : undefined;
  const expire = () => {
    const message =
      `The user has not signed in within ${describeMs(timeoutMs)} (if the ` +
      "page shows an error, check the client: it needs the redirect URI " +
      `${visit.redirectUri})`;
    visit.reject(new OAuthClientError("timeout", message));
  };
  const timer = setTimeout(expire, Math.min(timeoutMs, LONGEST_TIMER_MS));
  const remind = () =>
    print(
      "Still waiting for the sign-in. The URL can be opened again.\n" +
        "If the sign-in page shows an error about the redirect URI, register " +
        `this one for the client:\n${visit.redirectUri}`,
    );
  const reminder = setTimeout(remind, STILL_WAITING_MS);
  void openPage(url, settings);
  return () => {
    clearTimeout(timer);
    clearTimeout(reminder);
    stopReading?.();
  };
}
