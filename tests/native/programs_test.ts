import { assertEquals } from "@std/assert";
import { LIMIT_MS, until } from "../support/within.ts";
import { inRuntimes } from "./_runtimes.ts";

const PROGRAM = {
  source: new URL("_program.ts", import.meta.url),
  deno: ["-A"],
  stdin: "piped",
} as const;
const AUTHORIZATION_URL = "https://as.example/authorize?a=1&b=%22$(id)";
const PRINTED = "Opening the browser. If no page appears, open this URL:\n" +
  `${AUTHORIZATION_URL}\n`;

/** Reads the first line, and then everything. */
async function readFirst(child: Deno.ChildProcess) {
  const chunks = child.stdout.pipeThrough(new TextDecoderStream());
  let text = "";
  const reader = chunks.getReader();
  while (!text.includes("\n")) text += (await reader.read()).value;
  const rest = async () => {
    for (let chunk; !(chunk = await reader.read()).done;) text += chunk.value;
    return text.slice(text.indexOf("\n") + 1);
  };
  return { redirectUri: text.slice(0, text.indexOf("\n")), rest };
}

const exists = (path: string) => Deno.stat(path).then(() => true, () => false);

const readAll = (stream: ReadableStream<Uint8Array<ArrayBuffer>>) =>
  new Response(stream).text();

Deno.test({
  name:
    "createLoopbackReceiver() waits with the URL printed where the command is missing or fails",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    inRuntimes(PROGRAM, async (start, directory) => {
      const command = `${directory}/xdg-open`;
      const ran = `${directory}/ran`;
      for (const script of [undefined, `: > ${ran}\nexit 3`]) {
        if (script) {
          await Deno.writeTextFile(command, `#!/bin/sh\n${script}\n`);
          await Deno.chmod(command, 0o700);
        }
        const child = start("s1");
        const errors = readAll(child.stderr);
        const { redirectUri, rest } = await readFirst(child);
        if (script) await until(LIMIT_MS, () => exists(ran));
        await readAll((await fetch(`${redirectUri}?code=c&state=s1`)).body!);
        assertEquals(await rest(), "?code=c&state=s1\n");
        assertEquals(await errors, PRINTED);
        await child.stdin.close();
        assertEquals((await child.status).code, 0);
      }
      await Deno.remove(command);
      await Deno.remove(ran);
    }),
});

Deno.test({
  name:
    "createLoopbackReceiver() passes the URL to the command, without a shell",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    inRuntimes(PROGRAM, async (start, directory) => {
      const command = `${directory}/xdg-open`;
      const script = `#!/bin/sh\nprintf %s "$*" > ${directory}/url\n`;
      await Deno.writeTextFile(command, script);
      await Deno.chmod(command, 0o700);
      const child = start("s1");
      const errors = readAll(child.stderr);
      const { redirectUri, rest } = await readFirst(child);
      const url = `${directory}/url`;
      const written = async () =>
        await exists(url) && await Deno.readTextFile(url) !== "";
      await until(LIMIT_MS, written);
      assertEquals(await Deno.readTextFile(url), AUTHORIZATION_URL);
      await readAll((await fetch(`${redirectUri}?code=c&state=s1`)).body!);
      assertEquals(await rest(), "?code=c&state=s1\n");
      assertEquals(await errors, PRINTED);
      await child.stdin.close();
      assertEquals((await child.status).code, 0);
      await Deno.remove(url);
      await Deno.remove(command);
    }),
});

Deno.test("createLoopbackReceiver() accepts a pasted URL, query or code#state", () =>
  inRuntimes(PROGRAM, async (start) => {
    for (
      const [line, search] of [
        ["http://127.0.0.1:1/callback?code=c&state=s1", "?code=c&state=s1"],
        ["  ?code=c%2F&state=s1  ", "?code=c%2F&state=s1"],
        ["code=c&state=s1&iss=https://as.example/?a#x", undefined],
        ["c/d#s1", "?code=c%2Fd&state=s1"],
      ] as const
    ) {
      const child = start("s1", "paste");
      const errors = readAll(child.stderr);
      const { rest } = await readFirst(child);
      const writer = child.stdin.getWriter();
      const lines = ["", "junk", "?code=x&state=other", "x#other", line];
      await writer.write(new TextEncoder().encode(lines.join("\n") + "\n"));
      // The input stays open: it does not keep the program alive.
      assertEquals(
        await rest(),
        `${search ?? "?code=c&state=s1&iss=https://as.example/?a"}\n`,
      );
      assertEquals((await child.status).code, 0);
      await writer.close().catch(() => {});
      assertEquals(
        await errors,
        PRINTED + "If the last page does not load, paste its URL here:\n" +
          "This is not the response to this request. Paste it again:\n".repeat(
            3,
          ),
      );
    }
  }));
