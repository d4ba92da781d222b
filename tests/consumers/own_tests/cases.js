/** The tests of the program, for any runner: a name and a function each. */
import { memoryStore } from "@oauth-helper/client";
import { createTestServers } from "@oauth-helper/client/testing";
import { createNotes } from "./notes.js";

function start(options) {
  const notes = ["first"];
  const servers = createTestServers({
    requiredScopes: ({ method }) => [method === "POST" ? "write" : "read"],
    async handle(request) {
      if (request.method === "POST") notes.push(await request.text());
      return Response.json(notes);
    },
    ...options,
  });
  const { resource, fetch, now, receiver: signIn } = servers;
  const store = memoryStore();
  const open = () => createNotes(resource, { fetch, now, signIn, store });
  return {
    servers,
    open,
    signIns: () => servers.received("authorization").length,
  };
}

const failureOf = (promise) =>
  promise.then(() => "none", (error) => error.error);

/** `equal` is the runner's own assertion. */
export const cases = (equal) => [
  ["signs in once, also after a restart", async () => {
    const { open, signIns } = start();
    equal(await open().list(), ["first"]);
    equal(await open().list(), ["first"]);
    equal(signIns(), 1);
  }],
  ["asks for more when it writes", async () => {
    const { servers, open } = start();
    const notes = open();
    await notes.list();
    equal(await notes.add("second"), ["first", "second"]);
    const scopes = servers.received("authorization").map(({ params }) =>
      params.get("scope")
    );
    equal(scopes, ["read", "read write"]);
  }],
  [
    "keeps the user signed in when a token expires and the response is lost",
    async () => {
      const { servers, open, signIns } = start({ replaySeconds: 30 });
      const notes = open();
      await notes.list();
      servers.advance(3600);
      servers.failNext("token", "lose_response");
      equal(await notes.list(), ["first"]);
      equal(signIns(), 1);
    },
  ],
  ["survives a server that has forgotten everything", async () => {
    const { servers, open, signIns } = start();
    const notes = open();
    await notes.list();
    servers.revoke();
    servers.forgetClients();
    equal(await notes.list(), ["first"]);
    equal(signIns(), 2);
  }],
  ["says that the user refuses", async () => {
    const { open } = start({ user: "refuses" });
    equal(await failureOf(open().list()), "access_denied");
  }],
  ["leaves no valid token behind", async () => {
    const { servers, open } = start();
    const notes = open();
    await notes.list();
    equal(servers.accessTokens().length, 1);
    await notes.signOut();
    equal(servers.accessTokens(), []);
  }],
];
