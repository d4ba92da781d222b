/** The doctor as a program: a sign-in by the loopback receiver, and an interruption. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startFlowServers } from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";
import { inRuntimes } from "../support/bundled_programs.ts";

const source = new URL("../../lib/cli/main.ts", import.meta.url);
const PERMISSIONS = ["-N", "--allow-write"];
const URL_LINE = /open this URL:\n(.+)\n/;

Deno.test("the doctor signs in with the browser, and writes a report, in Deno and Node", async () => {
  await using servers = await startFlowServers();
  const { resource } = servers.protectedResource;
  await inRuntimes(source, PERMISSIONS, async (start, directory) => {
    const html = `${directory}/report.html`;
    const child = start("doctor", "--sign-in", "--html", html, resource);
    const [, url = ""] = await child.find(URL_LINE);
    const callback = await createBrowser().authorize(new URL(url));
    await (await fetch(callback)).text();
    const { code, output, errors } = await child.end();
    const text = output + errors;
    assertEquals(code, 0, text);
    assertStringIncludes(text.replace(/\s+/g, " "), "A user has signed in at");
    assertStringIncludes(text, "Revocation  only the refresh token");
    assertStringIncludes(errors, `The report is in ${html}`);
    assert((await Deno.readTextFile(html)).startsWith("<!DOCTYPE html>"));
  });
});

Deno.test("the doctor ends at once when it is interrupted while the user is away", async () => {
  await using servers = await startFlowServers();
  const { resource } = servers.protectedResource;
  await inRuntimes(source, PERMISSIONS, async (start) => {
    const child = start("doctor", "--sign-in", resource);
    await child.find(URL_LINE);
    child.kill("SIGINT");
    const { code, output } = await child.end();
    assertEquals([code, output], [130, ""]);
  });
});
