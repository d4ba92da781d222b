/** Runs one case against the library, in whatever runtime this is. */

import process from "node:process";
import { setImmediate } from "node:timers";
import type { Case, Library, Outcome, World } from "./case.ts";
import { createCertificate } from "./certificate.ts";
import { type FaultServer, startFaultServer } from "./fault_server.ts";
import { CALLS } from "./operations.ts";
import { good, SECRET } from "./plays.ts";

/** A guard against hanging, not a measure of speed. */
const TIME_LIMIT_MS = 8_000;
/** How long connections may take to be gone once an operation has ended. */
const DRAIN_LIMIT_MS = 2_000;
const LONGEST_MESSAGE = 10_000;
// deno-lint-ignore no-control-regex
const CONTROL_CHARACTERS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

type Ended = { value: unknown } | { failure: unknown } | "hung";

/** An operation's own end, or that it found none. */
async function endOf(operation: () => Promise<unknown>): Promise<Ended> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<"hung">((resolve) => {
    timer = setTimeout(() => resolve("hung"), TIME_LIMIT_MS);
  });
  try {
    return await Promise.race([
      limit,
      operation().then((value) => ({ value }), (failure) => ({ failure })),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

function labelOf(failure: unknown, library: Library): string {
  if (failure instanceof library.OAuthClientError) return failure.code;
  return failure instanceof Error
    ? failure.name
    : `a thrown ${typeof failure}: ${textOf(failure)}`;
}

function describe(failure: unknown, library: Library): string {
  const message = String((failure as Error)?.message).slice(0, 300);
  return `${labelOf(failure, library)}: ${message}`;
}

function membersProblem(
  failure: unknown,
  { members = {}, networkReason }: Outcome,
): string | undefined {
  const error = failure as {
    code?: string;
    networkReason?: string;
  };
  const isNetwork = error.code === "network_error";
  if (isNetwork && error.networkReason !== networkReason) {
    return `the reason is ${error.networkReason}`;
  }
  for (const [name, expected] of Object.entries(members)) {
    const actual = (failure as Record<string, unknown>)[name];
    if (!Object.is(actual, expected)) {
      return `${name} is ${actual}, not ${expected}`;
    }
  }
  return undefined;
}

/** What of an outcome is not as expected; undefined when all of it is. */
function outcomeProblem(
  ended: Exclude<Ended, "hung">,
  outcome: Outcome,
  world: World,
  library: Library,
): string | undefined {
  const { result, orResult } = outcome;
  if ("value" in ended) {
    return result?.(ended.value, world) || orResult?.(ended.value, world)
      ? undefined
      : `returned ${JSON.stringify(ended.value)}`.slice(0, 500);
  }
  const { failure } = ended;
  if (outcome.reason) {
    return failure === world.controller.signal.reason
      ? undefined
      : `ended with ${describe(failure, library)}, not with the reason`;
  }
  const expected = [outcome.code ?? outcome.each ?? []].flat();
  const isMany = outcome.each !== undefined;
  if (isMany !== (failure instanceof AggregateError)) {
    return `ended with ${describe(failure, library)}`;
  }
  const failures: unknown[] = failure instanceof AggregateError
    ? failure.errors
    : [failure];
  if (failures.length !== (outcome.failures ?? failures.length)) {
    return `holds ${failures.length} failures`;
  }
  for (const one of failures) {
    if (!expected.includes(labelOf(one, library))) {
      return `ended with ${describe(one, library)}`;
    }
    const problem = membersProblem(one, outcome);
    if (problem) return problem;
  }
  return undefined;
}

/** Everything that can be read from an error, its causes included. */
function* errorsWithin(
  failure: unknown,
  seen = new Set<unknown>(),
): Generator<unknown> {
  if (seen.has(failure)) return;
  seen.add(failure);
  yield failure;
  if (typeof failure !== "object" || failure === null) return;
  const { cause, errors, attempts } = failure as {
    cause?: unknown;
    errors?: unknown[];
    attempts?: { error?: unknown }[];
  };
  const within = [
    cause,
    ...errors ?? [],
    ...(attempts ?? []).map(({ error }) => error),
  ];
  for (const one of within) {
    if (one !== undefined) yield* errorsWithin(one, seen);
  }
}

/** A thrown value as a string; empty if it cannot be converted. */
function textOf(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return "";
  }
}

/** What an error shows and must not show; undefined for nothing. */
function messageProblem(
  failure: unknown,
  forbidden: readonly string[],
  library: Library,
): string | undefined {
  for (const one of errorsWithin(failure)) {
    const text = one instanceof Error ? one.message : textOf(one);
    const members = JSON.stringify(
      typeof one === "object" ? Object.entries(one ?? {}) : [],
      (name, value) => ["cause", "errors"].includes(name) ? null : value,
    );
    for (const secret of [SECRET, btoa(SECRET), ...forbidden]) {
      if (text.includes(secret)) return `a message holds "${secret}": ${text}`;
      if (members.includes(secret)) return `a member holds "${secret}"`;
    }
    // What a runtime writes into its own errors is not ours.
    const isOurs = one instanceof library.OAuthClientError ||
      one instanceof AggregateError;
    if (!isOurs) continue;
    if (CONTROL_CHARACTERS.test(text)) {
      return `a message holds control characters: ${JSON.stringify(text)}`
        .slice(0, 500);
    }
    if (text.length > LONGEST_MESSAGE) {
      return `a message has ${text.length} characters`;
    }
  }
  return undefined;
}

function trafficProblem(
  one: Case,
  here: FaultServer,
  elsewhere: FaultServer,
): string | undefined {
  const seen = here.requests.map(({ path }) => path);
  const shown = seen.slice(0, 20).join(" ");
  if (![one.requests].flat().includes(seen.length)) {
    return `${seen.length} requests, not ${one.requests}: ${shown}`;
  }
  const foreign = elsewhere.requests.map(({ path }) => path);
  if (foreign.length !== (one.requestsElsewhere ?? 0)) {
    return `${foreign.length} requests elsewhere: ${foreign.join(" ")}`;
  }
  if (one.hops || one.times) return undefined;
  const all = [...seen, ...foreign];
  const stages = [
    all.filter((path) => path.includes("oauth-protected-resource")),
    all.filter((path) =>
      /oauth-authorization-server|openid-configuration/.test(path)
    ),
  ];
  return stages.some(({ length }) => length > 3)
    ? `more than three requests for a document: ${shown}`
    : undefined;
}

/** Timers that keep the process alive, where the runtime lists them. */
function timers(): number {
  const resources = process.getActiveResourcesInfo?.() ?? [];
  return resources.filter((name) => name === "Timeout").length;
}

/** Lets everything that is due run, rejections without a handler included. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

/** What went wrong with a case; undefined when nothing did. */
export async function runCase(
  library: Library,
  one: Case,
): Promise<string | undefined> {
  const unhandled: unknown[] = [];
  const timersBefore = timers();
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  const [here, elsewhere] = await Promise.all([
    startFaultServer(one.play ?? good, {
      ...(one.server?.endsWith("tls") && {
        certificate: createCertificate({
          isExpired: one.server === "expired tls",
        }),
      }),
      ...(one.server === "[::1]" && { host: "::1" }),
    }),
    startFaultServer(one.playElsewhere ?? good),
  ]);
  const world: World = {
    here: here.origin,
    elsewhere: elsewhere.origin,
    controller: new AbortController(),
  };
  try {
    if (one.server === "gone") await here.close();
    const run = async () => {
      const input = one.input?.(world) ?? {};
      const given = one.options?.(world) ?? {};
      const { signal } = world.controller;
      const options = "signal" in given ? given : { ...given, signal };
      return await CALLS[one.operation](library, world, input, options);
    };
    const ends = await Promise.all(
      Array.from({ length: one.times ?? 1 }, () => endOf(run)),
    );
    await settle();
    for (const ended of ends) {
      if (ended === "hung") return `no end within ${TIME_LIMIT_MS} ms`;
      const problem = outcomeProblem(ended, one.outcome, world, library) ??
        ("failure" in ended
          ? messageProblem(ended.failure, one.forbidden ?? [], library)
          : undefined);
      if (problem) return problem;
    }
    const problem = trafficProblem(one, here, elsewhere);
    if (problem) return problem;
    for (const server of [here, elsewhere]) {
      if (!await server.drained(DRAIN_LIMIT_MS)) {
        return `${server.open} connections left open`;
      }
    }
    await settle();
    // The cases' own timers have run by now; the servers' went with their
    // connections.
    if (timers() > timersBefore) return "a timer is left";
    return unhandled.length > 0
      ? `unhandled rejection: ${unhandled[0]}`
      : undefined;
  } finally {
    if (one.server !== "gone") await here.close();
    await elsewhere.close();
    process.off("unhandledRejection", note);
  }
}
