/** The scenarios about refresh tokens, with this library. */
import { assertEquals } from "@std/assert";
import { createAuthorizedFetch, type Session } from "../../mod.ts";
import { SCENARIOS } from "./refresh.ts";
import {
  authorize,
  CLIENTS,
  type Connect,
  play,
  withFetch,
} from "./refresh_clients.ts";

const failuresOf = async (name: string, connect: Connect) => {
  const scenario = SCENARIOS.find((one) => one.name === name)!;
  return (await play(scenario, connect))
    .filter(({ failure }) => failure !== undefined);
};

for (const { name, description } of SCENARIOS) {
  Deno.test(`${name}: ${description}`, async () => {
    assertEquals(await failuresOf(name, CLIENTS.ours!), []);
  });
}

Deno.test("the scenarios fail for a program that does not save what a refresh returned", async () => {
  const connect: Connect = (url) => {
    let first: Session | undefined;
    const load = () => Promise.resolve(first);
    const save = (session?: Session) =>
      Promise.resolve(void (first ??= session));
    // Each call opens the session again.
    const open = () =>
      createAuthorizedFetch(url, { flow: authorize, store: { load, save } });
    return withFetch(() => (input, init) => open()(input, init))(url);
  };
  for (const name of ["refresh-rotation", "refresh-concurrent"]) {
    const failures = await failuresOf(name, connect);
    const ids = failures.map(({ id }) => id);
    assertEquals(ids.includes("refresh-token-used-once"), true, name);
    assertEquals(ids.includes("no-needless-sign-in"), true, name);
  }
});
