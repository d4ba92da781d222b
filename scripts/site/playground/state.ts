/** What the page of the playground shows, and what its buttons do. */
import { computed, reactive, ref, shallowRef, watch } from "vue";
import type { Session } from "../../../mod.ts";
import { programOf } from "./program.ts";
import { type Rule, ruleOf } from "./rules.ts";
import {
  type Action,
  type Arrow,
  type Behaviour,
  type Choices,
  createWorld,
  type World,
} from "./world.ts";

export const BUTTONS: readonly [
  heading: string,
  buttons: readonly (readonly [Action, string])[],
][] = [
  ["The program", [
    ["call", "Call the API"],
    ["three", "Three calls at once"],
    ["other", "Call from a second process"],
    ["both", "Both processes at once"],
    ["signIn", "api.signIn()"],
    ["revoke", "api.revoke(): sign out"],
  ]],
  ["Meanwhile", [
    ["hour", "An hour passes"],
    ["minutes", "Five minutes pass"],
    ["revokeAtServer", "The server revokes all tokens"],
    ["forgetClients", "The server forgets the client"],
    ["loseResponse", "The next token response gets lost"],
  ]],
];

export const SWITCHES = {
  isDown: "The authorization server is down",
  isBusy: "It answers 429, Retry-After: 300",
  needsWrite: "The API requires the scope write",
  replays: "The server accepts a used refresh token for a minute",
} as const;

export const USERS = {
  consents: "consents",
  refuses: "declines",
  leaves: "closes the page",
} as const;

/** The part of the diagram that is used: scripts are checked without a DOM. */
interface Diagram {
  readonly $el: { scrollIntoView(options: { block: "nearest" }): void };
}

/** Creates the state of the page. `pace` is how long an arrow takes, in milliseconds. */
export function usePlayground(pace: number) {
  const choices = reactive<{ -readonly [K in keyof Choices]: Choices[K] }>({
    signInOn: "call",
    tokenRequired: false,
    dpop: false,
  });
  const behaviour = reactive<
    { -readonly [K in keyof Behaviour]: Behaviour[K] }
  >({
    user: "consents",
    isDown: false,
    isBusy: false,
    needsWrite: false,
    replays: false,
  });
  const world = shallowRef<World>();
  const arrows = ref<Arrow[]>([]);
  const events = ref<string[]>([]);
  const session = shallowRef<Session>();
  const rule = shallowRef<Rule>();
  const selected = ref<number>();
  const action = ref<Action>("call");
  const clock = ref(0);
  const waiting = ref(0);
  const diagram = ref<Diagram>();

  /** Shows what the world is like now. */
  async function look(): Promise<void> {
    if (!world.value) return;
    clock.value = world.value.now();
    session.value = await world.value.session();
  }

  let restarts = 0;
  /** Restarts the program, in a world in which nothing has happened. */
  async function restart(): Promise<void> {
    const count = ++restarts;
    world.value = undefined;
    waiting.value = 0;
    arrows.value = [];
    events.value = [];
    session.value = rule.value = selected.value = undefined;
    const mine: World = await createWorld({ ...choices }, {
      async arrow(arrow) {
        if (world.value !== mine) return;
        arrows.value.push(arrow);
        await look();
        await new Promise((resolve) => setTimeout(resolve, pace));
      },
      event(text) {
        if (world.value === mine) events.value.push(text);
      },
    });
    // Another choice was made meanwhile, and restarts the program itself.
    if (restarts !== count) return;
    world.value = mine;
    mine.behave(behaviour);
    await look();
  }

  /** Does what a button says, where the visitor sees it. */
  async function act(name: Action): Promise<void> {
    diagram.value?.$el.scrollIntoView({ block: "nearest" });
    await run(name);
  }

  /** Calls the API if nothing has happened yet. */
  async function playFirst(): Promise<void> {
    await started;
    if (waiting.value === 0 && arrows.value.length === 0) await run("call");
  }

  async function run(name: Action): Promise<void> {
    const mine = world.value;
    if (!mine) return;
    waiting.value++;
    action.value = name;
    selected.value = undefined;
    await mine.act(name);
    if (mine !== world.value) return;
    waiting.value--;
    rule.value = ruleOf(mine.facts);
    await look();
  }

  const token = computed(() => {
    const { token } = session.value ?? {};
    return token?.access_token ? token : undefined;
  });
  const secondsLeft = computed(() =>
    Math.max(0, (token.value?.expires_at ?? 0) - clock.value / 1000)
  );
  const program = computed(() => programOf(choices, action.value));
  const started = restart();
  watch(choices, restart);
  watch(behaviour, () => world.value?.behave(behaviour));
  return {
    ...{ act, arrows, behaviour, choices, clock, diagram, events, playFirst },
    ...{ program, restart, rule, secondsLeft, selected, session, token },
    waiting,
  };
}
