/** The benchmark, as far as its numbers depend on it. */

import { loadedPackages } from "../support/loaded_packages.ts";
import { assert, assertEquals } from "@std/assert";
import { CONTESTS } from "../../scripts/bench/contest.ts";
import { takeTurns } from "../../scripts/bench/timing.ts";

Deno.test("each contest has ours first, and the baseline and the goals name contestants", () => {
  for (const { title, contestants, baseline, goals } of CONTESTS) {
    const names = Object.keys(contestants);
    assertEquals(names[0], "ours", title);
    for (const name of [baseline, ...goals.map(({ other }) => other)]) {
      assert(names.slice(1).includes(name), `${title}: ${name}`);
    }
  }
});

Deno.test("each contestant of the benchmark loads no other library", async () => {
  const folder = new URL("../../scripts/bench/", import.meta.url);
  const loaded = (path: string) =>
    loadedPackages(new URL(path, folder), {
      nameOf: (specifier) => specifier.endsWith("/mod.ts") ? "ours" : undefined,
    });
  const libraries: Record<string, string[]> = {
    "ours.ts": ["ours"],
    "mcp.ts": ["@modelcontextprotocol/client"],
    "oauth4webapi.ts": ["oauth4webapi"],
    "openid_client.ts": ["openid-client"],
    "http_auth_utils.ts": ["http-auth-utils"],
    "jose.ts": ["jose"],
    "jwt_decode.ts": ["jwt-decode"],
    "bare.ts": [],
  };
  for (const [file, names] of Object.entries(libraries)) {
    assertEquals(await loaded(`libraries/${file}`), names, file);
  }
  assertEquals(await loaded("contestant.ts"), []);
  const files = await Array.fromAsync(
    Deno.readDir(new URL("libraries/", folder)),
    ({ name }) => name,
  );
  assertEquals(
    files.filter((name) => !name.startsWith("_")).sort(),
    Object.keys(libraries).sort(),
  );
});

Deno.test("takeTurns() lets each contestant take one turn in each round, in changing orders", async () => {
  const turns: number[] = [];
  const contestants = [0, 1, 2].map((number) => () => {
    turns.push(number);
    return Promise.resolve({ wall: number, cpu: number });
  });
  const times = await takeTurns(contestants, 0.05);
  const rounds = Array.from(
    { length: turns.length / 3 },
    (_, round) => turns.slice(round * 3, round * 3 + 3),
  );
  for (const round of rounds) {
    assertEquals(round.toSorted(), [0, 1, 2]);
  }
  assert(new Set(rounds.map(String)).size > 1);
  for (const [number, { cpu }] of times.entries()) {
    assert(cpu.every((time) => time === number));
  }
});
