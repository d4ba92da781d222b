/** Each deviation of the table has exactly its findings, and no others. */

import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { diagnose, type Diagnosis } from "../../lib/doctor/mod.ts";
import { buildAuthorizationUrl, discoverAuthorization } from "../../mod.ts";
import { type Deviation, TABLE } from "./_table.ts";
import { idsOf, startWorld, type World } from "./_world.ts";

/** Compares a diagnosis with what discovery comes to by itself. */
async function assertAgrees(diagnosis: Diagnosis, { target }: World) {
  const { verdict, summary, options, context, failure, findings } = diagnosis;
  let challenge = await fetch(target, { redirect: "manual" });
  await challenge.body?.cancel();
  if (challenge.status === 405) {
    challenge = await fetch(target, { method: "POST", body: "{}" });
    await challenge.body?.cancel();
  }
  const found = await discoverAuthorization(target, { challenge }).then(
    (context) => ({ context, error: undefined }),
    (error) => ({ context: undefined, error }),
  );
  assertEquals(failure?.code, found.error?.code);
  assertEquals(failure?.message, found.error?.message);
  if (found.context || !options) {
    assertEquals(context?.issuer, found.context?.issuer);
    assertEquals(context?.resource, found.context?.resource);
    assertEquals(context?.scopes, found.context?.scopes);
    assertEquals(context?.serverMetadataUrl, found.context?.serverMetadataUrl);
  }
  const isFailed = verdict === "broken" || verdict === "unreachable";
  const errors = findings.filter(({ severity }) => severity === "error");
  assertEquals(isFailed, errors.length > 0 && !options);
  if (isFailed) assertStringIncludes(summary, errors[0]?.message ?? "");
  if (found.error) assert(isFailed || verdict === "open" || options);
  const { serverMetadata } = found.context ?? {};
  if (!serverMetadata?.authorization_endpoint) return;
  const build = () =>
    buildAuthorizationUrl(serverMetadata, {
      clientId: "c1",
      redirectUri: "http://127.0.0.1/",
      state: "s1",
      codeChallenge: "c2",
    });
  if (findings.some(({ id }) => id.startsWith("pkce_"))) assertThrows(build);
  else build();
}

Deno.test("diagnose() finds nothing at a healthy server", async () => {
  await using world = startWorld();
  const diagnosis = await diagnose(world.target);
  assertEquals(diagnosis.findings, []);
  assertEquals(diagnosis.verdict, "ready");
  assertEquals(JSON.parse(JSON.stringify(diagnosis)), diagnosis);
  await assertAgrees(diagnosis, world);
});

for (const { name, findings, verdict, options, change } of TABLE) {
  Deno.test(`diagnose() finds ${name}`, async () => {
    await using world = startWorld(change);
    const diagnosis = await diagnose(world.target);
    assertEquals(idsOf(diagnosis), findings);
    assertEquals(diagnosis.verdict, verdict);
    assertEquals(diagnosis.options?.map(({ name }) => name), options);
    for (const finding of diagnosis.findings) {
      const { message, standard, operator, url, step = -1 } = finding;
      assert(message.endsWith(".") || message.endsWith(")"), message);
      assert(operator.endsWith(".") && standard !== "" && url !== "");
      // What a response shows is in an excerpt, which is not long.
      const { length } = finding.excerpt ?? "";
      const hasResponse = diagnosis.steps[step]?.status !== undefined;
      assert(length <= 701 && (length > 0 || !hasResponse), finding.id);
    }
    await assertAgrees(diagnosis, world);
  });
}

/** A generator of numbers below a limit, which repeats for a seed. */
function randomNumbers(seed: number) {
  let state = seed;
  return (limit: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function pick(random: (limit: number) => number): Deviation[] {
  const parts = new Set<string>();
  const candidates = TABLE.filter(({ part }) => part !== undefined);
  return Array.from({ length: 2 + random(6) })
    .flatMap(() => candidates[random(candidates.length)] ?? [])
    .filter(({ part = "" }) => !parts.has(part) && Boolean(parts.add(part)));
}

Deno.test("diagnose() finds what several deviations have, no more and no less", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const some = pick(randomNumbers(seed));
    await using world = startWorld((model) => {
      for (const { change } of some) change(model);
    });
    const diagnosis = await diagnose(world.target);
    const names = some.map(({ name }) => name).join("; ");
    assertEquals(
      [...new Set(idsOf(diagnosis))].sort(),
      [...new Set(some.flatMap(({ findings }) => findings))].sort(),
      `seed ${seed}: ${names}`,
    );
    await assertAgrees(diagnosis, world);
  }
});
