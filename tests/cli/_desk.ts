/** A user at a desk: a home of its own, and a browser. */

import { createUser, type IUser } from "../interop/user.ts";
import {
  type IRunning,
  type IStart,
  type Program,
  start,
} from "../support/terminal.ts";

/** The URL that the program prints for the browser. */
export const AUTHORIZATION_URL = /URL(?: in a browser)?:\n(https?:\S+)\n/;

/** The desk. */
export interface IDesk extends AsyncDisposable {
  readonly home: string;
  /** Where the sessions are. */
  readonly state: string;
  /** Starts a command in a terminal, or as a part of a script. */
  start(
    program: Program,
    args: readonly string[],
    options?: Omit<IStart, "home">,
  ): IRunning;
  /** Runs a command of a script to its end. */
  run(
    program: Program,
    args: readonly string[],
    env?: Record<string, string>,
  ): ReturnType<IRunning["end"]>;
  /** Runs a command in a terminal, and signs in where it prints a URL. */
  signIn(
    program: Program,
    args: readonly string[],
    options?: Omit<IStart, "home">,
  ): ReturnType<IRunning["end"]>;
  /** Returns the sessions as they are kept. */
  // deno-lint-ignore no-explicit-any
  sessions(): Promise<{ path: string; session: any }[]>;
}

/** Sits down. */
export async function createDesk(user: IUser = createUser()): Promise<IDesk> {
  const home = await Deno.makeTempDir({ prefix: "desk_" });
  const state = `${home}/.local/state/oauth-helper`;
  const desk: IDesk = {
    home,
    state,
    start: (program, args, options) =>
      start(program, args, { home, ...options }),
    run: (program, args, env = {}) => start(program, args, { home, env }).end(),
    async signIn(program, args, options) {
      const running = desk.start(program, args, {
        isTerminal: true,
        ...options,
      });
      const [, url = ""] = await running.find(AUTHORIZATION_URL);
      await visit(user, url);
      return await running.end();
    },
    async sessions() {
      const found = [];
      for await (const { name } of Deno.readDir(state)) {
        if (!name.endsWith(".json")) continue;
        const path = `${state}/${name}`;
        found.push({
          path,
          session: JSON.parse(await Deno.readTextFile(path)),
        });
      }
      return found;
    },
    [Symbol.asyncDispose]: () => Deno.remove(home, { recursive: true }),
  };
  return desk;
}

/** Signs in at an authorization URL, and follows the redirect to the program. */
export async function visit(user: IUser, url: string): Promise<void> {
  const home = new URL(url).searchParams.get("redirect_uri") ?? "";
  const ending = await user.visit(url, home);
  if ("page" in ending) throw new Error(`The user was left at ${ending.page}`);
  await (await fetch(ending.left)).text();
}
