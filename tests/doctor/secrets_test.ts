/** Values of the caller's header fields, which a server repeats, are not shown. */

import { assert, assertEquals } from "@std/assert";
import { runDoctor } from "../../lib/doctor/_command.ts";
import { diagnose } from "../../lib/doctor/mod.ts";
import {
  handle,
  healthyModel,
  type IModel,
  RESOURCE_PATH,
  served,
  SERVER_PATH,
  startWorld,
} from "./_world.ts";

const ORIGIN = "https://api.example";
const TARGET = `${ORIGIN}/mcp`;
/** Longer than what a finding shows of a string. */
const SECRET = Array.from({ length: 60 }, (_, index) => `k3y${index}`).join(
  "-",
);
/** What may not be shown of it; a string that was cut may end within it. */
const START = SECRET.slice(0, 12);

/** Puts a value into the challenge, in place of its parameters. */
function challenge({ resource }: IModel, parameters: string) {
  resource.headers["WWW-Authenticate"] = `Bearer ${parameters}`;
}

const ECHOES: Record<string, (model: IModel) => void> = {
  "the URL of the resource metadata": (model) => {
    challenge(model, `resource_metadata="${ORIGIN}/m?key=${SECRET}"`);
  },
  "a URL on loopback": (model) => {
    challenge(model, `resource_metadata="http://[::1]/${SECRET}"`);
  },
  "the error of the challenge": (model) => {
    challenge(model, `error="${SECRET}"`);
  },
  "the scope of the challenge, after others": (model) => {
    challenge(model, `scope="${"x".repeat(40)},${SECRET}"`);
  },
  "a challenge that is malformed": (model) => {
    challenge(model, `scope=${SECRET} ${SECRET}=${SECRET}`);
  },
  "the URL of a redirect": ({ handlers }) => {
    handlers["/mcp"] = () =>
      Response.redirect(`https://login.example/?key=${SECRET}`);
    handlers[SERVER_PATH] = handlers["/mcp"];
  },
  "a media type": ({ documents }) => {
    documents[SERVER_PATH]!.headers = {
      "Content-Type": `text/${"x".repeat(20)}${SECRET}`,
    };
  },
  "names of members": ({ resourceMetadata }) => {
    resourceMetadata[`${"x".repeat(40)}${SECRET}`] = null;
  },
  "the resource": ({ resourceMetadata }) => {
    resourceMetadata.resource = `${ORIGIN}/${"x".repeat(80)}/${SECRET}`;
  },
  "the issuer": ({ serverMetadata }) => {
    serverMetadata.issuer = `${ORIGIN}/${"x".repeat(80)}/${SECRET}`;
  },
  "the URL of the authorization server": ({ resourceMetadata }) => {
    resourceMetadata.authorization_servers = [`${ORIGIN}/${SECRET}`];
  },
  "the name of a server whose issuer is another": (
    { resourceMetadata, serverMetadata, documents },
  ) => {
    resourceMetadata.authorization_servers = [`${ORIGIN}/${SECRET}`];
    serverMetadata.issuer = "https://login.example";
    documents[`/.well-known/oauth-authorization-server/${SECRET}`] = served(
      serverMetadata,
    );
  },
  "a URL of the authorization server that is refused": (
    { resourceMetadata },
  ) => {
    const url = `http://as.example/${"x".repeat(150)}${SECRET}`;
    resourceMetadata.authorization_servers = [url];
  },
  "an endpoint that is refused": ({ serverMetadata }) => {
    serverMetadata.token_endpoint = `http://as.example/${
      "x".repeat(150)
    }${SECRET}`;
  },
  "the registration endpoint": ({ serverMetadata }) => {
    serverMetadata.registration_endpoint = `${ORIGIN}/as/register?${SECRET}`;
  },
  "the error of a registration": ({ handlers }) => {
    const error = { error: "x", error_description: "y".repeat(200) + SECRET };
    handlers["POST /as/register"] = () => Response.json(error, { status: 400 });
  },
  "the registered client": ({ handlers }) => {
    handlers["POST /as/register"] = () => Response.json({ client_id: SECRET });
  },
};

/** Returns a fetch function of a server with this change. */
function remote(change: (model: IModel) => void) {
  const model = healthyModel(ORIGIN);
  change(model);
  return (url: string, init: RequestInit) =>
    handle(model, new Request(url, init));
}

for (const [name, change] of Object.entries(ECHOES)) {
  Deno.test(`runDoctor() prints no value of --header that is in ${name}`, async () => {
    const lines: string[] = [];
    const print = (line: string) => void lines.push(line);
    const args = [TARGET, "--register", "--header", `X-Key: ${SECRET}`];
    for (const format of ["--json", "--"]) {
      await runDoctor([...args, format], {
        print,
        printError: print,
        progress: print,
        colour: false,
        fetch: remote(change),
      });
    }
    const text = lines.join("").replace(/\s/g, "");
    assert(text.includes("[redacted]"), text);
    assert(!text.includes(START), text);
  });

  Deno.test(`diagnose() shows no value of additionalHeaders that is in ${name}`, async () => {
    const shown: unknown[] = [];
    shown.push(
      await diagnose(TARGET, {
        register: true,
        additionalHeaders: { Authorization: `Bearer ${SECRET}` },
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
  await using world = startWorld(({ handlers, documents }) => {
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
  });
  await diagnose(world.target, { headers: { "X-Key": "k3y" } });
  assertEquals([...seen], [
    "/mcp k3y",
    `${RESOURCE_PATH} k3y`,
    `${SERVER_PATH} null`,
  ]);
});
