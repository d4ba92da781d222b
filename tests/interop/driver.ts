/** Plays the steps of a server. */
import { installDebian, versionOfDebian } from "./debian.ts";
import { type PeerResult, playPeers } from "./peers.ts";
import { start } from "./running.ts";
import { type Server, type Step, stepsOf } from "./server.ts";
import { PLAY, type Stage } from "./steps.ts";

const STEP_MS = 60_000;

export interface Outcome {
  readonly step: Step;
  /** The first words of the error; undefined if the step held. */
  readonly failure?: string;
  /** The row of the road map that says why it fails. */
  readonly mark?: string;
}

export interface Result {
  readonly server: Server;
  readonly outcomes: readonly Outcome[];
  /** What is installed, of a server of Debian. */
  readonly version?: string;
  /** Why nothing was played. */
  readonly missing?: string;
  readonly seconds: number;
  /** What became of the clients of the MCP SDK, if they were to play. */
  readonly peers?: readonly PeerResult[];
}

export const SERVERS = new URL("servers/", import.meta.url);

/** Returns all servers, each with its folder. */
export async function readServers(): Promise<Map<Server, URL>> {
  const servers = new Map<Server, URL>();
  const names = [...Deno.readDirSync(SERVERS)]
    .filter(({ isDirectory }) => isDirectory)
    .map(({ name }) => name).filter((name) => !name.startsWith("_")).sort();
  for (const name of names) {
    const folder = new URL(`${name}/`, SERVERS);
    const { default: list } = await import(`${folder}about.ts`);
    for (const server of list as Server[]) servers.set(server, folder);
  }
  return servers;
}

function firstWords(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\s+/g, " ").slice(0, 240);
}

async function playStep(stage: Stage, step: Step): Promise<Outcome> {
  const { fails = {} } = stage.server;
  const mark = fails[step];
  const common = { step, ...mark !== undefined && { mark } };
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => timeout.reject(new Error(`no end after ${STEP_MS / 1000} s`)),
    STEP_MS,
  );
  try {
    await Promise.race([PLAY[step](stage), timeout.promise]);
    return common;
  } catch (error) {
    return { ...common, failure: firstWords(error) };
  } finally {
    clearTimeout(timer);
  }
}

export interface PlayOptions {
  /** Of the steps that the server can play. @default {all of them} */
  readonly only?: readonly string[] | undefined;
  /** Whether the clients of the MCP SDK play as well. @default false */
  readonly hasPeers?: boolean | undefined;
}

export async function play(
  server: Server,
  folder: URL,
  { only, hasPeers = false }: PlayOptions = {},
): Promise<Result> {
  const begin = performance.now();
  const outcomes: Outcome[] = [];
  const result = (missing?: string): Result => ({
    server,
    outcomes,
    seconds: (performance.now() - begin) / 1000,
    ...missing !== undefined && { missing },
  });
  const { debian = [] } = server;
  const missing = await installDebian(debian);
  if (missing !== undefined) return result(missing);
  const version = debian[0] && await versionOfDebian(debian[0]);
  await using running = await start(server, folder);
  const options = await server.options?.(running) ?? {};
  const stage: Stage = { server, running, options };
  const steps = stepsOf(server).filter((step) => only?.includes(step) ?? true);
  for (const step of steps) outcomes.push(await playStep(stage, step));
  const peers = hasPeers ? await playPeers(server, running) : undefined;
  return { ...result(), ...peers && { peers }, ...version && { version } };
}
