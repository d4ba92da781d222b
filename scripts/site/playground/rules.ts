/** Which rule of the pages was at work, from what has happened. */

/** A rule: the facts that it is recognized by, a sentence, and where the guide has it. */
export interface Rule {
  readonly id: string;
  readonly facts: RegExp;
  readonly text: string;
  /** The page and its heading, such as `prompts#never-prompt`. */
  readonly heading: string;
}

const SENT = "sessions#when-is-the-token-sent";
const REFRESHED = "sessions#when-is-it-refreshed";
const ONCE = "prompts#the-same-requirement-prompts-once";
const LEFT = "prompts#a-user-who-leaves-isnt-prompted-again";
const CLICK = "prompts#prompt-only-on-a-click";
const SHARED = "sessions#what-do-several-processes-share";

/** The rules; the first whose facts have happened was at work. */
export const RULES: readonly Rule[] = [
  {
    id: "sign_out",
    facts: /\/revoke 200|result (true|false)/,
    text: "Signing out deletes the session, then revokes its tokens.",
    heading: "sessions#how-does-it-end",
  },
  {
    id: "only_sign_in",
    facts: /choice signIn.*error sign_in_required/s,
    text: "A call prompts nobody: only api.signIn() opens the browser.",
    heading: CLICK,
  },
  {
    id: "prompted_once",
    facts: /error sign_in_required/,
    text:
      "The user left the sign-in, so later calls fail until a button calls api.signIn().",
    heading: LEFT,
  },
  {
    id: "user_left",
    facts: /error (access_denied|timeout)/,
    text: "The user saw the sign-in page and didn't finish: this call fails.",
    heading: LEFT,
  },
  {
    id: "outage",
    facts: /advice retry/,
    text:
      "The network or the server failed. The session stays, the call fails, and nobody is prompted.",
    heading: REFRESHED,
  },
  {
    id: "same_requirement",
    facts: /result 403/,
    text: "A sign-in isn't repeated for the same requirement.",
    heading: ONCE,
  },
  {
    id: "step_up",
    facts: /step_up/,
    text:
      "The API requires more scopes. The user signs in for these and the previous ones.",
    heading: ONCE,
  },
  {
    id: "session_dropped",
    facts: /session_dropped/,
    text:
      "The server rejected the refresh token. Only then is the user prompted again.",
    heading: REFRESHED,
  },
  {
    id: "repeated_refresh",
    facts: /lost.*refreshed/s,
    text:
      "The response to the refresh was lost, so the library repeats the refresh once.",
    heading: REFRESHED,
  },
  {
    id: "turns",
    facts: /action both.*(refreshed|sign_in_started)/s,
    text:
      "Processes take turns, and use the session that the other has stored.",
    heading: SHARED,
  },
  {
    id: "refused_token",
    facts: /\/mcp 401.*refreshed/s,
    text: "After a 401, the token is refreshed even if it hasn't expired.",
    heading: REFRESHED,
  },
  {
    id: "refreshed",
    facts: /refreshed/,
    text:
      "The token was about to expire, so it's refreshed before the call: once for all calls.",
    heading: REFRESHED,
  },
  {
    id: "valid_meanwhile",
    facts: /\/token (429|503).*result 200/s,
    text: "A refresh failed, but the token is still valid, so it's used.",
    heading: REFRESHED,
  },
  {
    id: "sign_in",
    facts: /action signIn.*sign_in_started/s,
    text: "api.signIn() prompts the user now, before any call needs it.",
    heading: CLICK,
  },
  {
    id: "signed_in",
    facts: /action signIn.*result a session/s,
    text: "There's a session, so api.signIn() returns it and prompts nobody.",
    heading: CLICK,
  },
  {
    id: "bound",
    facts: /choice dpop.*sign_in_started/s,
    text:
      "The servers require DPoP: the token is bound to a key, and each request proves that the library has this key.",
    heading: "security#a-client-in-the-browser",
  },
  {
    id: "token_required",
    facts: /choice tokenRequired.*sign_in_started/s,
    text: "With tokenRequired, each call gets a session first.",
    heading: SENT,
  },
  {
    id: "first_call",
    facts: /sign_in_started/,
    text:
      "Without a session, the first request goes out without a token. The 401 tells the library where to sign in.",
    heading: SENT,
  },
  {
    id: "second_process",
    facts: /action other.*result 200/s,
    text: "A second process finds the session in the store and prompts nobody.",
    heading: SHARED,
  },
  {
    id: "valid",
    facts: /result 200/,
    text: "The token is valid: it's sent, and nothing else happens.",
    heading: SENT,
  },
];

/** Returns the rule that was at work, if one was. */
export function ruleOf(facts: Iterable<string>): Rule | undefined {
  const text = [...facts].join("\n");
  return RULES.find((rule) => rule.facts.test(text));
}
