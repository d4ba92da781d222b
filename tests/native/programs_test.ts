/**
 * The loopback receiver runs browsers without a shell, and works in processes without
 * them.
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { bundledPrograms, inRuntimes } from "../support/bundled_programs.ts";
import { inDirectory } from "../support/in_directory.ts";
import { type Running, start } from "../support/terminal.ts";
import { LIMIT_MS, until } from "../support/within.ts";

const source = new URL("_program.ts", import.meta.url);
const AUTHORIZATION_URL = "https://as.example/authorize?a=1&b=%22$(id)";
const PRINTED = "Opening the browser. If no page appears, open this URL:\n" +
  `${AUTHORIZATION_URL}\n`;

/** Waits for the end; returns what was printed after the redirect URI. */
async function outcome(child: Running) {
  const { code, output, errors } = await child.end();
  assertEquals(code, 0, errors);
  return { search: output.slice(output.indexOf("\n") + 1), errors };
}

Deno.test({
  name:
    "createLoopbackReceiver() passes the URL to the command without a shell, and waits where that is missing or fails",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    inRuntimes(source, ["-A"], async (start, directory) => {
      const [command, url] = [`${directory}/xdg-open`, `${directory}/url`];
      for (const status of [undefined, 0, 3]) {
        if (status !== undefined) {
          const script = `#!/bin/sh\nprintf %s "$*" > ${url}\nexit ${status}\n`;
          await Deno.writeTextFile(command, script, { mode: 0o700 });
        }
        const child = start("s1");
        const [redirectUri] = await child.find(/^http.*(?=\n)/);
        if (status !== undefined) {
          const written = () =>
            Deno.readTextFile(url).then((text) => text !== "", () => false);
          await until(LIMIT_MS, written);
          assertEquals(await Deno.readTextFile(url), AUTHORIZATION_URL);
          await Deno.remove(url);
        }
        await (await fetch(`${redirectUri}?code=c&state=s1`)).text();
        assertEquals(await outcome(child), {
          search: "?code=c&state=s1\n",
          errors: PRINTED,
        });
      }
      await Deno.remove(command);
    }),
});

Deno.test({
  name:
    "createLoopbackReceiver() opens the URL with the first program of $BROWSER that is there",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    inRuntimes(source, ["-A"], async (start, directory) => {
      const [command, url] = [`${directory}/my browser`, `${directory}/url`];
      const script = `#!/bin/sh\nprintf %s "$*" > ${url}\n`;
      await Deno.writeTextFile(command, script, { mode: 0o700 });
      const child = start("s1", "", `missing:${command}`);
      const [redirectUri] = await child.find(/^http.*(?=\n)/);
      const written = () =>
        Deno.readTextFile(url).then((text) => text !== "", () => false);
      await until(LIMIT_MS, written);
      assertEquals(await Deno.readTextFile(url), AUTHORIZATION_URL);
      await Deno.remove(url);
      await (await fetch(`${redirectUri}?code=c&state=s1`)).text();
      await outcome(child);
    }),
});

Deno.test({
  name: "createLoopbackReceiver() listens on every address with bind",
  // Elsewhere, 127.0.0.2 is no address of the machine.
  ignore: Deno.build.os !== "linux",
  fn: () =>
    inRuntimes(source, ["-A"], async (start) => {
      const child = start("s1", "", "", "0.0.0.0");
      const [redirectUri] = await child.find(/^http:\/\/127\.0\.0\.1:.*(?=\n)/);
      const url = redirectUri.replace("127.0.0.1", "127.0.0.2");
      await (await fetch(`${url}?code=c&state=s1`)).text();
      assertEquals((await outcome(child)).search, "?code=c&state=s1\n");
    }),
});

Deno.test("createLoopbackReceiver() fails without the permission of Deno to listen", () =>
  inDirectory(async (home) => {
    const options = ["--no-prompt", "--allow-env", "--allow-net=127.0.0.1"];
    const { deno } = await bundledPrograms(source, home, options);
    const args = ["s1", "", "", "0.0.0.0"];
    const { code, errors } = await start(deno, args, { home }).end();
    assertEquals(code, 1);
    const message = "Cannot listen on port 0 of 0.0.0.0: Error: Deno " +
      "requires --allow-net=0.0.0.0. Allow it";
    assertStringIncludes(errors, message);
  }));

Deno.test("createLoopbackReceiver() accepts a pasted URL, query or code#state", () =>
  inRuntimes(source, ["-A"], async (start) => {
    for (
      const [line, search = "?code=c&state=s1"] of [
        ["http://127.0.0.1:1/callback?code=c&state=s1"],
        ["  ?code=c%2F&state=s1  ", "?code=c%2F&state=s1"],
        [
          "code=c&state=s1&iss=https://as.example/?a#x",
          "?code=c&state=s1&iss=https://as.example/?a",
        ],
        ["c/d#s1", "?code=c%2Fd&state=s1"],
      ] as const
    ) {
      const child = start("s1", "paste");
      const lines = ["", "junk", "?code=x&state=other", "x#other", line];
      await child.type(lines.join("\n") + "\n");
      // The input stays open: it does not keep the program alive.
      assertEquals(await outcome(child), {
        search: `${search}\n`,
        errors: PRINTED +
          "If the last page does not load, paste its URL here:\n" +
          "This is not the response to this request. Paste it again:\n"
            .repeat(3),
      });
    }
  }));
