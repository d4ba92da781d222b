/** The scenarios about refresh tokens, with this library. */
import { assertEquals } from "@std/assert";
import { createAuthorizedFetch, type ISession } from "../../mod.ts";
import { refreshScenarios } from "./refresh.ts";
import {
  authorize,
  CLIENTS,
  type Connect,
  play,
  withFetch,
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
  const connect: Connect = (url) => {
    let first: ISession | undefined;
    const load = () => Promise.resolve(first);
    const save = (session?: ISession) =>
      Promise.resolve(void (first ??= session));
    // Each call opens the session again.
    const open = () =>
      createAuthorizedFetch(url, { authorize, store: { load, save } });
    return withFetch(() => (input, init) => open()(input, init))(url);
  };
  for (const name of ["auth/refresh-rotation", "auth/refresh-concurrent"]) {
    const failures = await failuresOf(name, connect);
    const ids = failures.map((one) => one.split(":")[0]);
    assertEquals(ids.includes("refresh-token-used-once"), true, name);
    assertEquals(ids.includes("no-needless-sign-in"), true, name);
  }
});
