/** A PostgreSQL server of a test. */

import pg from "pg";
import { outputOf } from "../../scripts/support/process.ts";
import { onFreePort, stop } from "../support/free_port.ts";
import { printed } from "../support/printed.ts";

/** Returns a pool whose idle connections may be lost, as a program has to allow. */
export function poolOf(connectionString: string): pg.Pool {
  return new pg.Pool({ connectionString }).on("error", () => {});
}

const VERSIONS = "/usr/lib/postgresql";

/** Returns the folder of the programs of PostgreSQL, if it is installed. */
export function findPostgres(): string | undefined {
  try {
    const [version] = [...Deno.readDirSync(VERSIONS)]
      .map(({ name }) => name).sort((a, b) => Number(b) - Number(a));
    const programs = `${VERSIONS}/${version}/bin`;
    Deno.statSync(`${programs}/initdb`);
    return programs;
  } catch {
    return undefined;
  }
}

/** Returns a user that the server runs as: it refuses to run as root. */
async function userOf(): Promise<{ uid?: number; gid?: number }> {
  if (Deno.uid() !== 0) return {};
  const id = async (option: string) =>
    Number(await outputOf("id", [option, "postgres"], { cwd: "/" }));
  return { uid: await id("-u"), gid: await id("-g") };
}

/** Starts a server with an empty database, which listens on loopback only. */
export async function startPostgres(programs: string) {
  await using started = new AsyncDisposableStack();
  const user = await userOf();
  const directory = await Deno.makeTempDir();
  started.defer(() => Deno.remove(directory, { recursive: true }));
  await Deno.chown(directory, user.uid ?? null, user.gid ?? null);
  const data = `${directory}/data`;
  const options = { ...user, cwd: directory, stdout: "null" } as const;
  const { success, stderr } = await new Deno.Command(`${programs}/initdb`, {
    ...options,
    args: ["-D", data, "-U", "test", "--auth=trust", "--no-sync", "-E", "UTF8"],
    stderr: "piped",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  const { port, server, ended } = await onFreePort(async (port) => {
    const server = new Deno.Command(`${programs}/postgres`, {
      ...options,
      args: [
        ...["-D", data, "-h", "127.0.0.1", "-p", `${port}`],
        ...["-c", `unix_socket_directories=${directory}`, "-F"],
      ],
      stderr: "piped",
    }).spawn();
    try {
      const ready = /ready to accept connections/;
      return { port, server, ...await printed(server.stderr, ready) };
    } catch (error) {
      await stop(server);
      throw error;
    }
  });
  started.defer(async () => {
    // Its fast shutdown, which disconnects clients.
    server.kill("SIGINT");
    await server.status;
  });
  const running = started.move();
  return {
    url: `postgres://test@127.0.0.1:${port}/postgres`,
    async [Symbol.asyncDispose]() {
      await running.disposeAsync();
      await ended;
    },
  };
}
