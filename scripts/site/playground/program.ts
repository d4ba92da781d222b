/** The program for the visitor's choices, as its author would write it. */
import type { Action, Choices } from "./world.ts";

/** What each button is in a program; the others happen outside of it. */
const CALLS: Partial<Record<Action, string>> = {
  call: "await api(url);",
  three: "await Promise.all([api(url), api(url), api(url)]);",
  other: "await api(url); // The same program, started twice.",
  both: "await api(url); // In both processes.",
  signIn: "await api.signIn(); // What a button calls.",
  revoke: "await api.revoke();",
};

export function programOf(
  { signInOn, tokenRequired, dpop }: Choices,
  action: Action,
): string {
  const lines = [
    `import { codeFlow, createAuthorizedFetch${dpop ? ", createDpop" : ""} }`,
    `  from "@oauth-helper/client";`,
    `import { createLoopbackReceiver, fileStore }`,
    `  from "@oauth-helper/client/native";`,
    ``,
    `const url = "https://api.example/mcp";`,
    `const api = createAuthorizedFetch(url, {`,
    `  store: fileStore(".session.json"),`,
    `  flow: codeFlow({`,
    `    ...createLoopbackReceiver(),`,
    `    clientMetadata: { client_name: "Notes" },`,
    `  }),`,
    ...signInOn === "signIn" ? [`  signInOn: "signIn",`] : [],
    ...dpop
      ? [`  dpop: await createDpop(), // Or with a keyPair that you keep.`]
      : [],
    ...tokenRequired ? [`  tokenRequired: true,`] : [],
    `});`,
    ``,
    CALLS[action] ?? CALLS.call!,
  ];
  return lines.join("\n");
}
