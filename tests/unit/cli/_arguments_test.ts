/** The arguments of the program, which have the values of its options. */

import { assertEquals } from "@std/assert";
import { readArguments } from "../../../lib/cli/_arguments.ts";
import { type CommandOption, OPTIONS } from "../../../lib/cli/_options.ts";

const URL_OF_API = "https://api.example/mcp";

/** Options whose values are read as something else. */
const READ = [
  "client-metadata",
  "format",
  "header",
  "min-ttl",
  "param",
  "client-metadata-url",
  "redirect-uri",
  "resource",
  "scope",
  "timeout",
  "trusted-issuer",
];

const BESIDE: Record<string, string[]> = {
  "client-secret-file": ["--client-id=c1", "--issuer=https://as.example"],
  "client-credentials": [
    ...["--client-id=c1", "--issuer=https://as.example"],
    "--client-secret-file=f",
  ],
  "key-file": ["--client-id=c1", "--issuer=https://as.example"],
  "client-secret-post": [
    ...["--client-id=c1", "--issuer=https://as.example"],
    "--client-secret-file=f",
  ],
  "issuer": ["--client-id=c1"],
  "username": ["--format=docker"],
  "initial-access-token-file": ["--issuer=https://as.example"],
};

const camelCase = (name: string) =>
  name.split("-").map((part, index) =>
    index === 0 ? part : part[0]?.toUpperCase() + part.slice(1)
  ).join("");

for (const [name, option] of Object.entries<CommandOption>(OPTIONS)) {
  if (READ.includes(name)) continue;
  const isOfClient = name === "issuer" || name.startsWith("client-id") ||
    name.startsWith("client-secret");
  Deno.test(`readArguments() returns the value of --${name}`, () => {
    for (const command of option.of) {
      const isBoolean = option.type === "boolean";
      const url = command === "status" ? [] : [URL_OF_API];
      const member = camelCase(name);
      const without: Record<string, unknown> = {
        ...readArguments(command, url),
      };
      assertEquals(without[member], isBoolean ? false : undefined, command);
      const given: Record<string, unknown> = {
        ...readArguments(command, [
          ...url,
          isBoolean ? `--${name}` : `--${name}=x`,
          ...BESIDE[name] ?? [],
          ...isOfClient && command === "doctor" ? ["--sign-in"] : [],
        ]),
      };
      assertEquals(given[member], isBoolean ? true : "x", command);
    }
  });
}
