/** What the library advises in its messages, in the options of the command. */

import { assert, assertEquals } from "@std/assert";
import { inOptionsOfCommand } from "../../../lib/cli/_remedy.ts";
import { clientHint, UNPUBLISHED } from "../../../lib/core/_hints.ts";
import { UNLISTED } from "../../../lib/core/_url.ts";
import type { IRequest } from "../../../lib/http/_request.ts";
import { refusedFormHint } from "../../../lib/token/_refused_form.ts";
import { untyped } from "../../support/stub_fetch.ts";

/** A name of the library: an option of a function, or the function. */
const NAME = /\b[a-z]+[A-Z][A-Za-z]+\b/;

/** The requests that the command can make: with a secret, or without. */
const REQUESTS: readonly IRequest[] = [
  { headers: {}, body: "client_id=c1" },
  { headers: { Authorization: "Basic YTpi" }, body: "grant_type=x" },
  // Servers differ in how they decode these.
  { headers: { Authorization: `Basic ${btoa("a:%2B+")}` }, body: "" },
  { headers: {}, body: "client_id=c1&client_secret=s" },
  { headers: {}, body: "client_id=c1&resource=https%3A%2F%2Fa.example" },
].map((request) => ({ url: "u", purpose: "token" as const, ...request }));

const ERRORS = [
  undefined,
  "invalid_client",
  "unauthorized_client",
  "invalid_target",
  "invalid_dpop_proof",
  "use_dpop_nonce",
  "invalid_scope",
];

/** Returns every hint about a refused token request. */
function hintsOfForms(): Set<string> {
  const hints = new Set<string>();
  const sent = [
    ...REQUESTS.map((request) => [request]),
    REQUESTS.slice(1, 3),
  ];
  for (const requests of sent) {
    for (const error of ERRORS) {
      for (const text of ["", "<html>", "{}"]) {
        for (const status of [200, 400, 401]) {
          hints.add(
            refusedFormHint(untyped({ status, text }), error, requests),
          );
        }
      }
    }
  }
  hints.delete("");
  return hints;
}

Deno.test("inOptionsOfCommand() leaves no name of the library in the hints after a refused token request", () => {
  const hints = [...hintsOfForms()];
  const named = hints.filter((hint) => NAME.test(hint));
  assert(named.length >= 5, `${hints}`);
  for (const hint of hints) {
    const text = inOptionsOfCommand(hint);
    assert(!NAME.test(text), `${hint} becomes ${text}`);
  }
});

/**
 * Names of the library in messages that the command causes by no argument, or that
 * are the advice of another entry point.
 */
const NOT_OF_COMMAND = [
  // Of grants and flows that the command does not have.
  /actorTokenType|loginHint|assumeProfile|deviceFlow|cibaFlow|crossAppFlow/,
  // The client of the command is public, or has a secret.
  /privateKeyJwt|clientAssertion|knownClients|getAssertion|getSubjectToken/,
  // It always passes these itself.
  /createLoopbackReceiver|set clientMetadata to register|set authorize to/,
  // It takes the registration endpoint from the metadata.
  /registrationEndpoint/,
  // What has an option: it passes no other.
  /^"fileStore"$/,
];

Deno.test("inOptionsOfCommand() knows every name after `set`, `see`, `use` or `omit` in messages of the library", async () => {
  const found = new Set<string>();
  const rooms = "core discovery http client token session flows fetch native"
    .split(" ");
  for (const room of rooms) {
    const directory = new URL(`../../../lib/${room}/`, import.meta.url);
    for await (const { name } of Deno.readDir(directory)) {
      if (!name.endsWith(".ts")) continue;
      const source = (await Deno.readTextFile(new URL(name, directory)))
        .replace(/^\s*(\/\*)?\*.*$|^\s*\/\/.*$/gm, "");
      // Strings that were broken over lines are one.
      const text = source.replace(/["`]\s*\+\s*["`]/g, "");
      for (const [string] of text.matchAll(/(["`])(?:(?!\1)[^\n])*\1/g)) {
        if (/\b(set|see|use|omit|save) |fileStore/.test(string)) {
          found.add(string);
        }
      }
    }
  }
  const named = [...found].filter((string) => NAME.test(string))
    .filter((string) => !NOT_OF_COMMAND.some((other) => other.test(string)));
  assert(named.length >= 8, `${named}`);
  const unknown = named.map(inOptionsOfCommand)
    .filter((text) => NAME.test(text.replace(/\$\{.*?\}/g, "")));
  assertEquals(unknown, []);
});

Deno.test("inOptionsOfCommand() names the options for a client and for metadata", () => {
  for (const acceptsDocuments of [false, true]) {
    assertEquals(
      inOptionsOfCommand(clientHint(false, acceptsDocuments)),
      "set --client-id to an existing client, because the server does not support registration",
    );
  }
  assertEquals(
    inOptionsOfCommand(
      "needs more than a registration: set client to the result of " +
        "clientSecretBasic, privateKeyJwt or the like (a function that wraps a " +
        "flow must have its member client)",
    ),
    "needs more than a registration: use another client, with --client-id",
  );
  assertEquals(
    inOptionsOfCommand(`${UNPUBLISHED}; ${UNLISTED}`),
    "set --server-metadata from its docs; set --server-metadata if its docs differ",
  );
});
