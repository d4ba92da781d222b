/** The doctor as a program: a sign-in by the loopback receiver, and an interruption. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startFlowServers } from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import { inRuntimes } from "./_runtimes.ts";

const PROGRAM = {
  source: new URL("../../lib/doctor/main.ts", import.meta.url),
  deno: ["-N", "--allow-write"],
  stdin: "null",
} as const;

/** Reads what the program prints for the user, and calls back with each URL. */
async function readErrors(
  child: Deno.ChildProcess,
  onUrl: (url: URL) => Promise<void> | void,
): Promise<string> {
  let text = "";
  let isDone = false;
  for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const [, url] = /open this URL:\n(.+)\n/.exec(text) ?? [];
    if (!url || isDone) continue;
    isDone = true;
    await onUrl(new URL(url));
  }
  return text;
}

Deno.test("the doctor signs in with the browser, and writes a report, in Deno and Node", async () => {
  await using servers = await startFlowServers();
  const { resource } = servers.protectedResource;
  await inRuntimes(PROGRAM, async (start, directory) => {
    const html = `${directory}/report.html`;
    const child = start("--sign-in", "--html", html, resource);
    const output = new Response(child.stdout).text();
    const errors = await readErrors(child, async (url) => {
      const callback = await createBrowser().authorize(url);
      await (await fetch(callback)).text();
    });
    const text = await output + errors;
    assertEquals((await within(LIMIT_MS, child.status)).code, 0, text);
    assertStringIncludes(text.replace(/\s+/g, " "), "A user has signed in at");
    assertStringIncludes(text, "Revocation  done");
    assertStringIncludes(errors, `The report is in ${html}`);
    assert((await Deno.readTextFile(html)).startsWith("<!DOCTYPE html>"));
    await Deno.remove(html);
  });
});

Deno.test("the doctor ends at once when it is interrupted while the user is away", async () => {
  await using servers = await startFlowServers();
  const { resource } = servers.protectedResource;
  await inRuntimes(PROGRAM, async (start) => {
    const child = start("--sign-in", resource);
    const output = new Response(child.stdout).text();
    const errors = await readErrors(child, () => child.kill("SIGINT"));
    assertEquals((await within(LIMIT_MS, child.status)).code, 130, errors);
    assertEquals(await output, "");
    assertStringIncludes(errors, "Interrupted");
  });
});
