/** A user at a desk: a home of its own, and a browser. */

import { createUser, type User } from "../interop/user.ts";
import { hasProgram } from "../support/has_program.ts";
import {
  type Program,
  type Running,
  type Start,
  start,
} from "../support/terminal.ts";
import { IN_DENO } from "./_programs.ts";

/** The URL that the program prints for the browser. */
export const AUTHORIZATION_URL = /URL(?: in a browser)?:\n(https?:\S+)\n/;

export interface Desk extends AsyncDisposable {
  readonly home: string;
  readonly state: string;
  /** Starts a command in a terminal, or as a part of a script. */
  start(args: readonly string[], options?: Partial<Start>): Running;
  run(args: readonly string[]): ReturnType<Running["end"]>;
  /** Runs a command in a terminal, and signs in where it prints a URL. */
  signIn(args: readonly string[]): ReturnType<Running["end"]>;
  /** Returns the sessions as they are kept. */
  // deno-lint-ignore no-explicit-any
  sessions(): Promise<{ path: string; session: any }[]>;
  /** Changes the only session as it is kept, by default to one that has expired. */
  // deno-lint-ignore no-explicit-any
  change(edit?: (session: any) => void): Promise<void>;
}

export async function createDesk(program: Program = IN_DENO): Promise<Desk> {
  const home = await Deno.makeTempDir({ prefix: "desk_" });
  const state = `${home}/.local/state/oauth-helper`;
  const user = createUser();
  const desk: Desk = {
    home,
    state,
    start: (args, options) => start(program, args, { home, ...options }),
    run: (args) => desk.start(args).end(),
    async signIn(args) {
      const running = desk.start(args, { isTerminal: true });
      const [, url = ""] = await running.find(AUTHORIZATION_URL);
      await visit(user, url);
      return await running.end();
    },
    async sessions() {
      const found = [];
      for await (const { name } of Deno.readDir(state)) {
        if (!name.endsWith(".json")) continue;
        const path = `${state}/${name}`;
        const session = JSON.parse(await Deno.readTextFile(path));
        found.push({ path, session });
      }
      return found;
    },
    async change(edit) {
      for (const { path, session } of await desk.sessions()) {
        session.token.expires_at = 1;
        edit?.(session);
        await Deno.writeTextFile(path, JSON.stringify(session));
      }
    },
    [Symbol.asyncDispose]: () => Deno.remove(home, { recursive: true }),
  };
  return desk;
}

/** Runs a test at a desk, if the program that it needs is there. */
export const test = (
  name: string,
  fn: (desk: Desk) => Promise<void>,
  needed?: string,
) =>
  Deno.test({
    name,
    // `script` has other options elsewhere.
    ignore: Deno.build.os !== "linux" ||
      needed !== undefined && !hasProgram(needed),
    async fn() {
      await using desk = await createDesk();
      await fn(desk);
    },
  });

/** Signs in at an authorization URL, and follows the redirect to the program. */
export async function visit(user: User, url: string): Promise<void> {
  const home = new URL(url).searchParams.get("redirect_uri") ?? "";
  const ending = await user.visit(url, home);
  if ("page" in ending) throw new Error(`The user was left at ${ending.page}`);
  await (await fetch(ending.left)).text();
}
