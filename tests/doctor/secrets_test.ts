/** Values of the caller's header fields, which a server repeats, are not shown. */

import { assert, assertEquals } from "@std/assert";
import { diagnose } from "../../lib/doctor/mod.ts";
import {
  all,
  challenge,
  type Change,
  documents,
  resource,
  server,
} from "./_changes.ts";
import { absent } from "./_sign_in_world.ts";
import {
  diagnosed,
  remote,
  RESOURCE_PATH,
  run,
  served,
  SERVER_PATH,
  TARGET,
} from "./_world.ts";

const ORIGIN = new URL(TARGET).origin;
/** Longer than what a finding shows of a string. */
const SECRET = Array.from({ length: 60 }, (_, index) => `k3y${index}`).join(
  "-",
);
/** What may not be shown of it; a string that was cut may end within it. */
const START = SECRET.slice(0, 12);

const LONG = `http://as.example/${"x".repeat(150)}${SECRET}`;
const LATE = `${ORIGIN}/${"x".repeat(80)}/${SECRET}`;

const ECHOES: Record<string, Change> = {
  "the URL of the resource metadata": challenge(
    `Bearer resource_metadata="${ORIGIN}/m?key=${SECRET}"`,
  ),
  "the scope of the challenge, after others": challenge(
    `Bearer scope="${"x".repeat(40)},${SECRET}"`,
  ),
  "a challenge that is malformed": challenge(
    `Bearer scope=${SECRET} ${SECRET}=${SECRET}`,
  ),
  "the URL of a redirect": ({ handlers }) => {
    handlers["/mcp"] = () =>
      Response.redirect(`https://login.example/?key=${SECRET}`);
    handlers[SERVER_PATH] = handlers["/mcp"];
  },
  "names of members": resource({
    [`${"x".repeat(40)}${SECRET}`]: "http://other.example",
    authorization_servers: ["http://other.example"],
  }),
  "the issuer": server({ issuer: LATE }),
  "the name of a server whose issuer is another": all(
    resource({ authorization_servers: [`${ORIGIN}/${SECRET}`] }),
    server({ issuer: "https://login.example" }),
    documents(({ serverMetadata }) => ({
      [`/.well-known/oauth-authorization-server/${SECRET}`]: served(
        serverMetadata,
      ),
    })),
  ),
  "a URL of the authorization server that is refused": resource({
    authorization_servers: [LONG],
  }),
  "the registration endpoint": server({
    registration_endpoint: `${ORIGIN}/as/register?${SECRET}`,
  }),
  "the error of a registration": ({ handlers }) => {
    const error = { error: "x", error_description: "y".repeat(200) + SECRET };
    handlers["POST /as/register"] = () => Response.json(error, { status: 400 });
  },
  "the registered client": ({ handlers }) => {
    handlers["POST /as/register"] = () => Response.json({ client_id: SECRET });
  },
};

for (const [name, change] of Object.entries(ECHOES)) {
  Deno.test(`runDoctor() prints no value of --header that is in ${name}`, async () => {
    const lines: string[] = [];
    const args = [TARGET, "--sign-in", "--header", `X-Key: ${SECRET}`];
    for (const format of ["--json", "--"]) {
      const fetch = remote(change);
      const printed = await run([...args, format], {
        fetch,
        createReceiver: () => absent,
      });
      lines.push(printed.text, ...printed.errors, ...printed.progress);
    }
    const text = lines.join("").replace(/\s/g, "");
    assert(text.includes("[redacted]"), text);
    assert(!text.includes(START), text);
  });

  Deno.test(`diagnose() shows no value of additionalHeaders that is in ${name}`, async () => {
    const shown: unknown[] = [];
    shown.push(
      await diagnose(TARGET, {
        signIn: absent,
        serverMetadataHeaders: { Authorization: `Bearer ${SECRET}` },
        onRequest: (request) => shown.push(request),
        fetch: remote(change),
      }),
    );
    const text = JSON.stringify(shown);
    assert(text.includes("[redacted]"), text);
    assert(!text.includes(START), text);
  });
}

Deno.test("diagnose() sends header fields to the resource only", async () => {
  const seen = new Set<string>();
  await diagnosed(({ handlers, documents }) => {
    for (const path of ["/mcp", RESOURCE_PATH, SERVER_PATH]) {
      handlers[`GET ${path}`] = ({ headers }) => {
        const isOfPage = headers.has("Origin");
        if (!isOfPage) seen.add(`${path} ${headers.get("X-Key")}`);
        const document = documents[path];
        return document
          ? Response.json(document.body)
          : new Response(null, { status: 401 });
      };
    }
  }, { headers: { "X-Key": "k3y" } });
  assertEquals([...seen], [
    "/mcp k3y",
    `${RESOURCE_PATH} k3y`,
    `${SERVER_PATH} null`,
  ]);
});
