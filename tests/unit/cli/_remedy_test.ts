/** An error of the program says what its user can do, in the names of its options. */

import { assertEquals, assertMatch } from "@std/assert";
import { Failure, remedy } from "../../../lib/cli/_failure.ts";
import { nextCommands } from "../../../lib/cli/_next_commands.ts";
import { explain } from "../../../lib/cli/_remedy.ts";
import { OAuthClientError } from "../../../mod.ts";
import { eachRow } from "../../support/each_row.ts";

Deno.test("explain() returns the message, the exit code, and what the user can do", () => {
  const rows: [error: unknown, exitCode: number, remedy: RegExp][] = [
    [new OAuthClientError("network_error", "m"), 1, /network/],
    [
      new OAuthClientError("unexpected_status", "m", {
        status: 503,
        retryAfterSeconds: 7,
      }),
      1,
      /in 7 s/,
    ],
    [new OAuthClientError("discovery_failed", "m"), 1, /--server-metadata/],
    [
      new OAuthClientError("discovery_failed", "m", {
        attempts: [{
          url: "https://as.example",
          error: new OAuthClientError("identifier_mismatch", "m"),
        }],
      }),
      1,
      /^(?!.*--server-metadata).* may be trying to steal .*--trusted-issuer/,
    ],
    [
      new OAuthClientError("discovery_failed", "m", {
        attempts: [{
          url: "https://as.example",
          error: new OAuthClientError("identifier_mismatch", "m"),
        }],
        cause: new OAuthClientError("identifier_mismatch", "m"),
      }),
      1,
      /^(?!.*--trusted-issuer).* may be trying to steal .*--server-metadata .*--resource/,
    ],
    [new OAuthClientError("timeout", "m"), 1, /again, and sign in sooner/],
    [
      new OAuthClientError("timeout", "m", { url: "https://as.example" }),
      1,
      /network/,
    ],
    [
      new OAuthClientError("unexpected_status", "m", { status: 500 }),
      1,
      /^(?!.*network).* operator/,
    ],
    ...([
      ["oauth_error", 400, /--client-id/],
      ["unexpected_status", 403, /--client-id/],
      ["unexpected_status", 500, /^(?!.*--client-id)/],
    ] as const).map(([code, status, remedy]): [unknown, number, RegExp] => [
      new OAuthClientError(code, "m", { status, request: "registration" }),
      1,
      remedy,
    ]),
    [new OAuthClientError("unsupported", "m"), 1, /--client-id/],
    [new OAuthClientError("invalid_session", "m"), 1, /--key-command/],
    [new OAuthClientError("sign_in_required", "m"), 1, /login URL/],
    [new OAuthClientError("url_refused", "m"), 1, /--allow-http/],
    [new OAuthClientError("identifier_mismatch", "m"), 1, /doctor URL/],
    [
      new OAuthClientError("invalid_response", "m"),
      1,
      /^To find out why, run `oauth-helper doctor URL`\.$/,
    ],
    [
      new OAuthClientError("oauth_error", "m", { error: "access_denied" }),
      1,
      /again/,
    ],
    [new OAuthClientError("invalid_argument", "m"), 2, /^$/],
    [new Error("m"), 1, /^$/],
    [new Failure(3, "m", "Sign in."), 3, /^Sign in\.$/],
  ];
  eachRow(rows, ([error, exitCode, fix]) => {
    const failure = explain(error);
    assertEquals([failure.message, failure.exitCode], ["m", exitCode]);
    assertMatch(failure.remedy ?? "", fix);
  });
  assertEquals(explain("m").message, "m");
});

Deno.test("explain() names the command that finds why a login failed", () => {
  const url = "https://api.example/mcp";
  const login = nextCommands("login", [url]);
  const doctor = `\`oauth-helper doctor ${url} --sign-in\``;
  const reason = `To find out why, run ${doctor}.`;
  const denied = { error: "access_denied" };
  const rows: [error: unknown, remedy: string | undefined][] = [
    [new OAuthClientError("invalid_response", "m"), reason],
    [
      new OAuthClientError("network_error", "m"),
      `Check the URL and the network, or try again later. ${reason}`,
    ],
    [
      new OAuthClientError("timeout", "m"),
      `Run the command again, and sign in sooner. ${reason}`,
    ],
    [
      new OAuthClientError("oauth_error", "m", { error: "invalid_client" }),
      `Run \`oauth-helper login ${url} --fresh\`. ${reason}`,
    ],
    [
      new OAuthClientError("unsupported", "m"),
      `${doctor} lists what the server supports. If it registers no clients, ` +
      "pass the one from its console: --client-id, --client-secret-file, " +
      "--issuer.",
    ],
    [
      new OAuthClientError("oauth_error", "m", denied),
      "Run the command again to retry the sign-in.",
    ],
    [
      new OAuthClientError("url_refused", "m"),
      "Use https; --allow-http accepts http.",
    ],
    [
      new Failure(1, "m", remedy`The session is kept. \`${"doctor"}\`.`),
      `The session is kept. ${doctor}.`,
    ],
    [new Failure(1, "m"), undefined],
  ];
  eachRow(
    rows,
    ([error, fix]) => assertEquals(explain(error, login).remedy, fix),
  );
  // Another command has not signed in.
  const logout = explain(
    new OAuthClientError("network_error", "m"),
    nextCommands("logout", [url]),
  );
  assertEquals(
    logout.remedy,
    "Check the URL and the network, or try again later.",
  );
});

Deno.test("explain() shows hints of the library with the options of the command, each once", () => {
  const hints = [
    { option: "allowHttp", value: true, text: "set allowHttp to allow it" },
    { option: "serverMetadata", text: "set serverMetadata if its docs differ" },
    { option: "serverMetadata", text: "set serverMetadata from its docs" },
    // The command cannot cause it.
    { option: "assumeProfile", value: true, text: "set assumeProfile" },
  ] as const;
  const message = "x" + hints.map(({ text }) => ` (${text})`).join("");
  const error = new OAuthClientError("unsupported", message, { hints });
  assertEquals(
    explain(error).message,
    "x (use --allow-http, on a network that no one else can read) " +
      "(use --server-metadata with what its docs say)",
  );
  assertEquals(explain(new Error("allowHttp")).message, "allowHttp");
});

Deno.test("explain() says why there was no response, without the words of the runtime", () => {
  const url = "https://as.example/revoke";
  const message = "Request failed: connection refused (TypeError: x)";
  const networkReason = "connection_refused";
  for (
    const [details, expected] of [
      [{ url, networkReason }, "Nothing listens at as.example"],
      [{ url }, message],
      [{ networkReason }, message],
    ] as const
  ) {
    const error = new OAuthClientError("network_error", message, details);
    assertEquals(explain(error).message, expected);
  }
});
