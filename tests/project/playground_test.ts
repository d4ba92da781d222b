/** What the playground of the site shows, and the rules that it names. */
import { assert, assertEquals } from "@std/assert";
import { ruleOf, RULES } from "../../scripts/site/playground/rules.ts";
import {
  type Action,
  type Arrow,
  type Behaviour,
  type Choices,
  createWorld,
  LANES,
} from "../../scripts/site/playground/world.ts";
import { fragmentOf } from "../../scripts/site/.vitepress/slug.ts";
import { until } from "../support/within.ts";

const CHOICES: Choices = {
  signInOn: "call",
  tokenRequired: false,
  dpop: false,
};
const BEHAVIOUR: Behaviour = {
  user: "consents",
  isDown: false,
  isBusy: false,
  needsWrite: false,
  replays: false,
};

/** A visitor: returns the rule after each action. */
async function visit(choices: Partial<Choices> = {}) {
  const arrows: Arrow[] = [];
  const events: string[] = [];
  const world = await createWorld({ ...CHOICES, ...choices }, {
    arrow: (arrow) => {
      arrows.push(arrow);
      return Promise.resolve();
    },
    event: (text) => void events.push(text),
  });
  const act = async (name: Action, behaviour: Partial<Behaviour> = {}) => {
    world.behave({ ...BEHAVIOUR, ...behaviour });
    await world.act(name);
    return ruleOf(world.facts)?.id;
  };
  return { act, arrows, events, world };
}

Deno.test("an hour passes in the playground once the calls have ended", async () => {
  const { act } = await visit();
  const call = act("call");
  await act("hour");
  await call;
  assertEquals(await act("call"), "refreshed");
});

Deno.test("the playground names the rule that was at work", async () => {
  const rows: [Action, Partial<Behaviour>, string | undefined][] = [
    ["three", {}, "first_call"],
    ["call", {}, "valid"],
    ["other", {}, "second_process"],
    ["hour", {}, undefined],
    ["both", {}, "turns"],
    ["hour", {}, undefined],
    ["call", { isDown: true }, "outage"],
    ["call", { isBusy: true }, "outage"],
    ["minutes", {}, undefined],
    ["call", {}, "refreshed"],
    ["hour", {}, undefined],
    ["loseResponse", {}, undefined],
    ["call", { replays: true }, "repeated_refresh"],
    ["hour", {}, undefined],
    ["loseResponse", {}, undefined],
    ["call", {}, "session_dropped"],
    ["call", { needsWrite: true }, "step_up"],
    ["revokeAtServer", {}, undefined],
    ["call", { user: "refuses" }, "user_left"],
    ["call", {}, "prompted_once"],
    ["signIn", {}, "sign_in"],
    ["signIn", {}, "signed_in"],
    ["revoke", {}, "sign_out"],
  ];
  const { act } = await visit();
  for (const [name, behaviour, expected] of rows) {
    assertEquals(await act(name, behaviour), expected, name);
  }
});

Deno.test("the playground lets a user leave until five minutes have passed", async () => {
  const { act, arrows, world } = await visit();
  const call = act("call", { user: "leaves" });
  await until(5_000, () => arrows.at(-1)?.label === "GET /authorize");
  await world.act("minutes");
  assertEquals(await call, "user_left");
});

Deno.test("the playground shows the second process in a lane of its own", async () => {
  const { act, arrows } = await visit();
  await act("both");
  const calls = arrows.filter(({ label }) => label === "api(url)");
  assertEquals(calls.map(({ from }) => LANES[from]).sort(), [
    "Process 1",
    "Process 2",
  ]);
});

Deno.test("the playground follows the choices", async () => {
  const waits = await visit({ signInOn: "signIn" });
  assertEquals(await waits.act("call"), "only_sign_in");
  const eager = await visit({ tokenRequired: true });
  assertEquals(await eager.act("call"), "token_required");
  const bound = await visit({ dpop: true });
  assertEquals(await bound.act("call"), "bound");
  await bound.act("hour");
  assertEquals(await bound.act("both"), "turns");
  assert((await bound.world.session())?.dpopThumbprint);
});

Deno.test("the playground shows no secret", async () => {
  for (const dpop of [false, true]) {
    const { act, arrows, events, world } = await visit({ dpop });
    await act("call");
    await act("hour");
    await act("call");
    await act("revoke");
    const shown = JSON.stringify([arrows, events]);
    assertEquals(shown.match(/(access|refresh|code)-\d+-[\w-]{14,}/g), null);
    // Tokens, proofs, verifiers and states are long; these are no secrets.
    const visible = shown.replaceAll(/(code_challenge|dpop_jkt)=[\w-]+/g, "");
    const long = visible.match(/[\w~-]{40,}/g) ?? [];
    assertEquals(
      long.filter((one) => !/^[a-z_]+$|^client-/.test(one)),
      [],
    );
    assertEquals(await world.session(), undefined);
  }
});

Deno.test("the playground links headings that exist", async () => {
  const pages = await Promise.all(
    ["sessions", "prompts", "security"].map(async (name) => {
      const url = new URL(`../../.github/docs/${name}.md`, import.meta.url);
      return [...(await Deno.readTextFile(url)).matchAll(/^#+ (.+)$/gm)]
        .map(([, title = ""]) => `${name}#${fragmentOf(title)}`);
    }),
  );
  const headings = pages.flat();
  assertEquals(RULES.filter(({ heading }) => !headings.includes(heading)), []);
});
