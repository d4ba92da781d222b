/** Processes that are killed during a renewal, with a session in a file. */

import { assert, assertEquals } from "@std/assert";
import type { ISession } from "../../mod.ts";
import { fileStore } from "../../lib/native/mod.ts";
import { serve } from "../servers/_serve.ts";
import { bundle } from "../support/bundle.ts";
import { hasProgram } from "../support/has_program.ts";
import { LIMIT_MS, within } from "../support/within.ts";

const source = new URL("_renewal_program.ts", import.meta.url).pathname;

/** Much shorter than a lease, and longer than a program takes to start. */
const AT_ONCE_MS = 5_000;

/** The states of a renewal, in their order. */
const STATES = ["locked", "sent", "received", "saving", "saved"] as const;
type State = typeof STATES[number];

/**
 * What a server does with a refresh token that has been used: it stays valid, it does
 * for some time, or a second use revokes all tokens (RFC 9700, section 4.14.2).
 */
type Rotation = "none" | "lenient" | "strict";

/** Starts a resource with its authorization server; it can hold back a response. */
function startServer(rotation: Rotation) {
  let count = 1;
  let isRevoked = false;
  let onToken: (() => Promise<void>) | undefined;
  const { origin, close } = serve(async (request) => {
    if (new URL(request.url).pathname === "/mcp") {
      const authorization = request.headers.get("Authorization");
      const isValid = !isRevoked && authorization === `Bearer a${count}`;
      return new Response(null, { status: isValid ? 200 : 401 });
    }
    const form = new URLSearchParams(await request.text());
    const used = Number(form.get("refresh_token")?.slice(1));
    const isFormer = rotation !== "none" && used !== count;
    isRevoked ||= isFormer && rotation === "strict";
    if (isRevoked) {
      return Response.json({ error: "invalid_grant" }, { status: 400 });
    }
    count++;
    await onToken?.();
    return Response.json({
      access_token: `a${count}`,
      token_type: "Bearer",
      expires_in: 3600,
      refresh_token: rotation === "none" ? "r1" : `r${count}`,
    });
  });
  const session: ISession = {
    issuer: origin,
    resource: `${origin}/mcp`,
    serverMetadata: {
      issuer: origin,
      token_endpoint: `${origin}/token`,
      token_endpoint_auth_methods_supported: ["none"],
    },
    client: { issuer: origin, client_id: "client" },
    token: {
      access_token: "a0",
      token_type: "Bearer",
      expires_in: 1,
      expires_at: 1,
      refresh_token: "r1",
    },
    scopes: [],
  };
  return {
    session,
    /** Holds back the next response to a token request; resolves once it is due. */
    hold() {
      const received = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      onToken = () => {
        onToken = undefined;
        received.resolve();
        return released.promise;
      };
      return { received: received.promise, release: released.resolve };
    },
    [Symbol.asyncDispose]: close,
  };
}

/** How each runtime runs a program. Bun is tested where it is installed. */
const RUNTIMES: Record<string, string[]> = {
  Deno: [Deno.execPath(), "run", "-A", "--quiet", "--no-config"],
  Node: ["node"],
  Bun: ["bun"],
};

/** Runs a test with a bundled program and an empty directory. */
const withProgram = (
  test: (program: string, directory: string) => Promise<void>,
) =>
async () => {
  const directory = await Deno.makeTempDir();
  try {
    await bundle(source, `${directory}/program.mjs`);
    await test(`${directory}/program.mjs`, directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
};

/** Starts a command; `first` is the first line that it prints. */
function start([program = "", ...args]: string[]) {
  const child = new Deno.Command(program, { args, stdout: "piped" }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const first = within(LIMIT_MS, reader.read())
    .then(({ value = "" }) => value.trim());
  const end = async (signal?: Deno.Signal) => {
    if (signal) child.kill(signal);
    await child.status;
    await reader.cancel();
  };
  return { first, end };
}

/** What the next process prints. */
function outcome(state: State, rotation: Rotation): string {
  // The new refresh token was lost with the process, and the former one is void.
  const isLost = rotation === "strict" &&
    ["sent", "received", "saving"].includes(state);
  return isLost ? "sign-in" : "200";
}

for (const [runtime, command] of Object.entries(RUNTIMES)) {
  const isMissing = runtime === "Bun" && !hasProgram("bun");
  for (const rotation of ["none", "lenient", "strict"] as const) {
    Deno.test({
      name:
        `fileStore() survives kill -9 in a renewal: ${runtime}, rotation ${rotation}`,
      ignore: isMissing || Deno.build.os !== "linux",
      fn: withProgram(async (program, directory) => {
        for (const state of STATES) {
          await using server = startServer(rotation);
          const { session } = server;
          const path = `${directory}/${state}.json`;
          await fileStore(path).save(session);
          const run = [...command, program, path, session.resource];
          const held = state === "sent" ? server.hold() : undefined;
          const killed = start([...run, state]);
          if (held) await within(LIMIT_MS, held.received);
          else assertEquals(await killed.first, state);
          await killed.end("SIGKILL");
          held?.release();

          const before = performance.now();
          const next = start(run);
          assertEquals(await next.first, outcome(state, rotation), state);
          const ms = performance.now() - before;
          await next.end();
          assert(ms < AT_ONCE_MS, `${state}: ${ms} ms`);
          const stored = await fileStore(path).load();
          assertEquals(stored?.issuer, session.issuer, state);
        }
      }),
    });
  }

  Deno.test({
    name:
      `fileStore() saves a refresh that has begun at an interrupt: ${runtime}`,
    ignore: isMissing || Deno.build.os === "windows",
    fn: withProgram(async (program, directory) => {
      await using server = startServer("strict");
      const { session } = server;
      const path = `${directory}/session.json`;
      await fileStore(path).save(session);
      const run = [...command, program, path, session.resource];
      const held = server.hold();
      const interrupted = start(run);
      await within(LIMIT_MS, held.received);
      const ending = interrupted.end("SIGINT");
      assertEquals(await interrupted.first, "Interrupted");
      held.release();
      await within(LIMIT_MS, ending);
      assertEquals((await fileStore(path).load())?.token.access_token, "a2");
      const next = start(run);
      assertEquals(await next.first, "200");
      await next.end();
    }),
  });
}
