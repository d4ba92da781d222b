/** Processes that are killed during a renewal, with a session in a file. */

import { assert, assertEquals } from "@std/assert";
import { fileStore } from "../../lib/native/mod.ts";
import { serve } from "../servers/_serve.ts";
import { bundledPrograms } from "../support/bundled_programs.ts";
import { hasProgram } from "../support/has_program.ts";
import { inDirectory } from "../support/in_directory.ts";
import { SESSION } from "../support/resource.ts";
import { type Program, start } from "../support/terminal.ts";
import { LIMIT_MS, within } from "../support/within.ts";

const source = new URL("_renewal_program.ts", import.meta.url);

/** Much shorter than a lease, and longer than a program takes to start. */
const AT_ONCE_MS = 5_000;

const STATES = ["locked", "sent", "received", "saving", "saved"];

/** Those in which the new refresh token is lost with the process. */
const LOST = ["sent", "received", "saving"];

/**
 * Starts a resource with its authorization server; it can hold back a response. A second
 * use of a refresh token revokes all tokens, if it is strict (RFC 9700, section 4.14.2).
 */
function startServer(isStrict: boolean) {
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
    isRevoked ||= isStrict && form.get("refresh_token") !== `r${count}`;
    if (isRevoked) {
      return Response.json({ error: "invalid_grant" }, { status: 400 });
    }
    count++;
    await onToken?.();
    return Response.json({
      access_token: `a${count}`,
      token_type: "Bearer",
      expires_in: 3600,
      refresh_token: `r${count}`,
    });
  });
  return {
    session: {
      ...SESSION,
      issuer: origin,
      resource: `${origin}/mcp`,
      server: { token_endpoint: `${origin}/token` },
      token: {
        access_token: "a0",
        token_type: "Bearer",
        expires_at: 1,
        refresh_token: "r1",
      },
    },
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

/** Runs a test with a bundled program in a runtime; Bun is tested where it is installed. */
const withProgram = (
  runtime: "deno" | "node" | "bun",
  test: (program: Program, home: string) => Promise<void>,
) => ({
  ignore: Deno.build.os !== "linux" ||
    runtime === "bun" && !hasProgram("bun"),
  fn: () =>
    inDirectory(async (home) => {
      const programs = await bundledPrograms(source, home);
      const [, bundled = ""] = programs.node;
      await test(
        { ...programs, bun: ["bun", bundled] as const }[runtime],
        home,
      );
    }),
});

for (const runtime of ["deno", "node", "bun"] as const) {
  for (const isStrict of [false, true]) {
    const what = isStrict ? "revokes" : "accepts";
    Deno.test({
      name:
        `fileStore() survives kill -9 in a renewal in ${runtime}, at a server that ${what} a token used twice`,
      ...withProgram(runtime, async (program, home) => {
        for (const state of STATES) {
          await using server = startServer(isStrict);
          const { session } = server;
          const path = `${home}/${state}.json`;
          await fileStore(path).save(session);
          const args = [path, session.resource];
          const held = state === "sent" ? server.hold() : undefined;
          const killed = start(program, [...args, state], { home });
          if (held) await within(LIMIT_MS, held.received);
          else await killed.find(new RegExp(`^${state}\n`));
          killed.kill("SIGKILL");
          await killed.end();
          held?.release();

          const before = performance.now();
          const { output } = await start(program, args, { home }).end();
          const isLost = isStrict && LOST.includes(state);
          assertEquals(output, isLost ? "sign-in\n" : "200\n", state);
          const ms = performance.now() - before;
          assert(ms < AT_ONCE_MS, `${state}: ${ms} ms`);
          const stored = await fileStore(path).load();
          assertEquals(stored?.issuer, session.issuer, state);
        }
      }),
    });
  }

  Deno.test({
    name:
      `fileStore() saves a refresh that has begun at an interrupt in ${runtime}`,
    ...withProgram(runtime, async (program, home) => {
      await using server = startServer(true);
      const { session } = server;
      const path = `${home}/session.json`;
      await fileStore(path).save(session);
      const args = [path, session.resource];
      const held = server.hold();
      const interrupted = start(program, args, { home });
      await within(LIMIT_MS, held.received);
      interrupted.kill("SIGINT");
      await interrupted.find(/^Interrupted\n/);
      held.release();
      await interrupted.end();
      assertEquals((await fileStore(path).load())?.token?.access_token, "a2");
      const next = start(program, args, { home });
      assertEquals((await next.end()).output, "200\n");
    }),
  });
}
