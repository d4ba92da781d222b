/** The scenarios about refresh tokens, with this library. */
import { assertEquals } from "@std/assert";
import * as v2 from "@modelcontextprotocol/client";
import { codeFlow, createAuthorizedFetch, type ISession } from "../../mod.ts";
import { refreshScenarios } from "./refresh.ts";
import {
  CLIENTS,
  type Connect,
  play,
  REDIRECT_URI,
  visit,
} from "./refresh_clients.ts";

const failuresOf = async (name: string, connect: Connect) => {
  const scenario = refreshScenarios().find((one) => one.name === name)!;
  const checks = await play(scenario, connect);
  return checks.filter(({ status }) => status === "FAILURE")
    .map(({ id, errorMessage }) => `${id}: ${errorMessage}`);
};

for (const { name, description } of refreshScenarios()) {
  Deno.test(`${name}: ${description}`, async () => {
    assertEquals(await failuresOf(name, CLIENTS.ours!), []);
  });
}

Deno.test("the scenarios fail for a program that does not save what a refresh returned", async () => {
  const connect: Connect = async (url) => {
    let first: ISession | undefined;
    const store = {
      load: () => Promise.resolve(first),
      save: (session?: ISession) => Promise.resolve(void (first ??= session)),
    };
    const metadata = { client_name: "Forgetful" };
    const authorize = codeFlow({
      ...{ clientMetadata: metadata, redirectUri: REDIRECT_URI, visit },
    });
    const open = () =>
      createAuthorizedFetch(url, { authorize, store: { ...store } });
    const client = new v2.Client({ name: "forgetful", version: "1.0.0" });
    const transport = new v2.StreamableHTTPClientTransport(url, {
      fetch: (input, init) => open()(input, init),
    });
    await client.connect(transport);
    return { client, recover: () => Promise.resolve() };
  };
  for (const name of ["auth/refresh-rotation", "auth/refresh-concurrent"]) {
    const failures = await failuresOf(name, connect);
    const ids = failures.map((one) => one.split(":")[0]);
    assertEquals(ids.includes("refresh-token-used-once"), true, name);
    assertEquals(ids.includes("no-needless-sign-in"), true, name);
  }
});
