/** The tests of the program, for any runner: a name and a function each. */
import { memoryStore } from "@oauth-helper/client";
import { createTestServers } from "@oauth-helper/client/testing";
import { createNotes } from "./notes.js";

function start(options) {
  const servers = createTestServers({
    handle: () => Response.json(["first"]),
    ...options,
  });
  const { resource, fetch, now, receiver: signIn } = servers;
  const store = memoryStore();
  return {
    servers,
    list: () => createNotes(resource, { fetch, now, signIn, store }).list(),
    signIns: () => servers.received("authorization").length,
  };
}

/** `equal` is the runner's own assertion. */
export const cases = (equal) => [
  ["signs in once, also after a restart", async () => {
    const { list, signIns } = start();
    equal(await list(), ["first"]);
    equal(await list(), ["first"]);
    equal(signIns(), 1);
  }],
  [
    "keeps the user signed in when a token expires and the response is lost",
    async () => {
      const { servers, list, signIns } = start({ replaySeconds: 30 });
      await list();
      servers.advance(3600);
      servers.failNext("token", "lose_response");
      equal(await list(), ["first"]);
      equal(signIns(), 1);
    },
  ],
  ["says that the user refuses", async () => {
    const { list } = start({ user: "refuses" });
    const error = await list().catch((error) => error);
    equal(error.error, "access_denied");
  }],
];
