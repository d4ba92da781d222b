/** A remedy names commands that a user can copy. */

import { assertEquals } from "@std/assert";
import { readArguments } from "../../../lib/cli/_arguments.ts";
import { nextCommands, PLACEHOLDERS } from "../../../lib/cli/_next_commands.ts";
import type { Command } from "../../../lib/cli/_options.ts";
import { eachRow } from "../../support/each_row.ts";

const URL = "https://api.example/mcp";

Deno.test("nextCommands() names the doctor with the URL, --sign-in, and the options that it accepts", () => {
  const rows: [command: Command, args: string[], options: string][] = [
    ["login", [`${URL}#x`], " --sign-in"],
    ["token", ["--json", "-q", URL], " --sign-in"],
    ["headers", ["--lines", "--account", "work", URL], " --sign-in"],
    ["logout", ["--allow-http", URL], ""],
    ["login", ["--fresh", "--paste", "--device", URL], " --sign-in --device"],
    [
      "login",
      ["--issuer", "https://as.example", "--client-id=c 1", URL],
      " --sign-in --issuer https://as.example --client-id 'c 1'",
    ],
    [
      "login",
      ["--client-id=-c", "--scope=a", "--scope", "b c", URL],
      " --sign-in --client-id=-c --scope a --scope 'b c'",
    ],
    [
      "login",
      ["--initial-access-token-file=f", "--issuer=https://as.example", URL],
      " --sign-in",
    ],
    [
      "login",
      ["--client-metadata-url", "https://tool.example/c.json", URL],
      " --sign-in --client-metadata https://tool.example/c.json",
    ],
    [
      "login",
      ["--client-credentials", "--client-id=c", "--client-secret-file=f", URL],
      "",
    ],
    ["login", ["--client-id=c", "--key-file=f", URL], ""],
  ];
  eachRow(rows, ([command, args, options]) => {
    const { doctor, login, isLogin } = nextCommands(command, args);
    assertEquals(doctor, `oauth-helper doctor ${URL}${options}`);
    assertEquals(login, `oauth-helper login ${URL}`);
    assertEquals(isLogin, command === "login");
    // The doctor accepts the line.
    const words = doctor.split(" ").slice(2);
    if (!doctor.includes("'")) readArguments("doctor", words);
  });
});

Deno.test("nextCommands() writes a URL that a shell reads as it is meant, and no URL that is none", () => {
  const { doctor } = nextCommands("login", [`${URL}?a=$(id)&b='`]);
  assertEquals(
    doctor,
    `oauth-helper doctor '${URL}?a=$(id)&b=%27' --sign-in`,
  );
  for (const args of [[], ["api.example"], ["https://u:p@api.example"]]) {
    assertEquals(nextCommands("login", args), PLACEHOLDERS);
  }
});
