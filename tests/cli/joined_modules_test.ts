/** The files of the npm package: how few they are, and what an import loads of them. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import config from "../../deno.json" with { type: "json" };
import { root } from "../../scripts/support/deno.ts";
import { joinModules } from "../../scripts/support/joined_modules.ts";
import {
  entryPoints,
  npmEntryPoints,
  PROGRAM,
} from "../../scripts/support/npm_package.ts";
import { packInto } from "../../scripts/support/package.ts";
import { filesBelow } from "../../scripts/support/portable_tests.ts";
import { outputOf, temporaryDirectory } from "../../scripts/support/process.ts";
import { startTestServers } from "../../lib/testing/mod.ts";
import { onFreePort, stop } from "../support/free_port.ts";
import { LIMIT_MS, until } from "../support/within.ts";

/** Returns the files that an import of a file loads, without those imported on demand. */
async function loadedBy(file: string): Promise<string[]> {
  const loaded = new Set([file]);
  for (const path of loaded) {
    const code = await Deno.readTextFile(path);
    for (const [, next] of code.matchAll(/(?:from|^import) "(\..*)";$/gm)) {
      loaded.add(join(dirname(path), next!));
    }
  }
  return [...loaded];
}

/** Returns the paths of all modules and declarations of `lib/` and of mod.ts. */
async function sources(): Promise<string[]> {
  const paths = await Array.fromAsync(filesBelow(new URL("lib/", root)));
  return ["mod.ts", ...paths.map((path) => `lib/${path}`)]
    .filter((path) => path.endsWith(".ts"));
}

/** Emits the modules of the library as a compiler does, one by one with their maps. */
async function emitInto(directory: string): Promise<void> {
  await esbuild.build({
    absWorkingDir: fileURLToPath(root),
    entryPoints: await sources(),
    outbase: ".",
    outdir: directory,
    format: "esm",
    target: "es2022",
    sourcemap: true,
  });
  for await (const path of filesBelow(new URL(`file://${directory}/`))) {
    if (!path.endsWith(".js")) continue;
    const code = await Deno.readTextFile(`${directory}/${path}`);
    // As long as before, so that the map stays right.
    await Deno.writeTextFile(
      `${directory}/${path}`,
      code.replaceAll(/(?<="\.\.?\/[\w./]+)\.ts(?=")/g, ".js"),
    );
  }
}

const emittedIn = (directory: string, path: string) =>
  join(directory, path.replace(/\.ts$/, ".js"));

/** Checks how many files an import of an entry point and the program load. */
async function checkLoadedFiles(directory: string): Promise<void> {
  const most: Readonly<Record<string, number>> = {
    ".": 3,
    "./native": 4,
    "./stores": 3,
    "./browser": 2,
    "./doctor": 4,
    "./testing": 2,
    "./web": 3,
    "./cli": 6,
  };
  for (const { name, path } of npmEntryPoints) {
    const files = (await loadedBy(emittedIn(directory, path)))
      .map((file) => relative(directory, file));
    assert(files.length <= most[name]!, `${name}: ${files.join(", ")}`);
    // Bundles for pages and Workers have no modules of Node.
    if (!/native|cli/.test(name)) {
      for (const file of files) {
        const code = await Deno.readTextFile(`${directory}/${file}`);
        assert(!code.includes('from "node:'), `${name} loads ${file}`);
      }
    }
    if (name === ".") continue;
    // Else each would load the whole of the main one.
    const isLarge = ["./doctor", "./web"].includes(name);
    assertEquals(files.includes("shared/client.js"), isLarge, name);
  }
  const program = await loadedBy(emittedIn(directory, PROGRAM.path));
  assert(program.length <= 6, program.join(", "));
  for (const file of program) {
    assert(!/shared\/(client|native|files|_)/.test(file), file);
  }
  const shared = await Array.fromAsync(Deno.readDir(`${directory}/shared`));
  const commands = shared.map(({ name }) => name)
    .filter((name) => /^_(token|login|doctor)-/.test(name));
  assertEquals(commands.length, 3, commands.join(", "));
  const token = commands.find((name) => name.startsWith("_token"))!;
  const files = new Set([
    ...program,
    ...await loadedBy(`${directory}/shared/${token}`),
  ]);
  assert(files.size <= 12, [...files].join(", "));
  assert(!files.has(`${directory}/shared/native.js`));
  assert(!files.has(`${directory}/shared/client.js`));
}

/** Checks that no declaration is missing, and that the exports are those of the sources. */
async function checkExports(directory: string): Promise<void> {
  const files = await Array.fromAsync(
    filesBelow(new URL(`file://${directory}/`)),
  );
  const declared = files.filter((path) => path.endsWith(".d.ts"));
  for (const { path } of npmEntryPoints) {
    const name = path.replace(/^\.\/(.*)\.ts$/, "$1.d.ts");
    assert(declared.includes(name), name);
  }
  for (const path of declared) {
    const text = await Deno.readTextFile(`${directory}/${path}`);
    for (const [, to] of text.matchAll(/from "(\..*?)\.(?:js|ts)"/g)) {
      const named = `${join(dirname(path), to!)}.d.ts`;
      assert(declared.includes(named), `${path} imports ${named}`);
    }
  }
  assertEquals(
    files.filter((path) => /^lib\/.*\.js$/.test(path)).sort(),
    [...npmEntryPoints, PROGRAM].map(({ path }) => path)
      .filter((path) => path !== "./mod.ts")
      .map((path) => path.replace(/^\.\/(.*)\.ts$/, "$1.js")).sort(),
  );
  for (const [index, { path }] of entryPoints.entries()) {
    const source = await import(new URL(path, root).href);
    const joined = await import(
      `file://${emittedIn(directory, npmEntryPoints[index]!.path)}`
    );
    assertEquals(Object.keys(joined), Object.keys(source));
  }
}

/** Checks that an import of `./native` does not load what listening needs. */
async function checkNodeHttp(cwd: string): Promise<void> {
  const code = `
    import process from "node:process";
    import { createLoopbackReceiver } from "${config.name}/native";
    const isLoaded = () =>
      process.moduleLoadList.some((name) => / _http_server$/.test(name));
    const before = isLoaded();
    const ended = new AbortController();
    await createLoopbackReceiver({ port: 0 }).redirectUri({ signal: ended.signal });
    console.log(before, isLoaded());
    ended.abort();`;
  await Deno.writeTextFile(`${cwd}/program.mjs`, code);
  assertEquals(
    await outputOf("node", ["program.mjs"], { cwd }),
    "false true\n",
  );
}

async function samplesOfReadme(): Promise<string[]> {
  const readme = await Deno.readTextFile(new URL("README.md", root));
  return [...readme.matchAll(/```ts ignore\n(.*?)```/gs)]
    .map(([, code]) => code!);
}

/** Runs the web server of README, and signs a browser in. */
async function checkWebServer(cwd: string): Promise<void> {
  const samples = await samplesOfReadme();
  const program = samples.find((code) => code.includes("createWebSignIn"));
  await Deno.writeTextFile(`${cwd}/server.mjs`, program!);
  await onFreePort(async (port) => {
    const origin = `http://localhost:${port}`;
    const client = { client_id: "site", client_secret: "s3cret" };
    const redirect_uris = [`${origin}/callback`];
    const servers = await startTestServers({
      clients: [{ ...client, redirect_uris }],
    });
    const child = new Deno.Command("node", {
      args: ["server.mjs"],
      cwd,
      env: {
        API: servers.resource,
        ISSUER: servers.issuer,
        CLIENT_ID: client.client_id,
        CLIENT_SECRET: client.client_secret,
        COOKIE_KEY: btoa("0123456789abcdef0123456789abcdef"),
        PORT: `${port}`,
      },
      stderr: "piped",
    }).spawn();
    const errors = new Response(child.stderr).text();
    let Cookie = "";
    const open = async (url: string) => {
      const redirect = "manual";
      const response = await fetch(url, { redirect, headers: { Cookie } });
      const pairs = response.headers.getSetCookie()
        .map((line) => line.split(";")[0]!);
      if (pairs.length > 0) Cookie = pairs.join("; ");
      await response.body?.cancel();
      return response.headers.get("Location") ?? response.status;
    };
    try {
      await until(LIMIT_MS, () => open(origin).then(() => true, () => false));
      const signInPage = await open(`${origin}/notes`);
      const callback = await servers.receiver.visit(new URL(`${signInPage}`));
      assertEquals(await open(`${callback}`), `${origin}/notes`);
      assertEquals(await open(`${origin}/notes`), 200);
    } catch (error) {
      await stop(child);
      throw new Error(`${await errors}`, { cause: error });
    } finally {
      await stop(child);
      await errors;
      await servers.close();
    }
  });
}

/** Runs the first program of README twice, and the API that README offers for it. */
async function checkFirstProgram(cwd: string): Promise<void> {
  const [program = "", servers = ""] = await samplesOfReadme();
  await Deno.writeTextFile(`${cwd}/servers.mjs`, servers);
  // A browser of a user who consents at once.
  const browser = `${cwd}/browser.mjs`;
  const code = "#!/usr/bin/env node\nawait fetch(process.argv[2]);\n";
  await Deno.writeTextFile(browser, code, { mode: 0o700 });
  await using running = new Deno.Command("node", {
    args: ["servers.mjs"],
    cwd,
    stdout: "piped",
  }).spawn();
  const url = await firstLineOf(running.stdout);
  await Deno.writeTextFile(
    `${cwd}/notes.mjs`,
    program.replace("https://api.example/notes", url),
  );
  for (const isOpened of [true, false]) {
    const { stdout, stderr } = await new Deno.Command("node", {
      args: ["notes.mjs"],
      cwd,
      env: { BROWSER: browser },
    }).output();
    const [output, notice] = [stdout, stderr].map((bytes) =>
      new TextDecoder().decode(bytes)
    );
    assert(output!.startsWith("200 "), output! + notice);
    assertEquals(notice!.includes("Opening the browser"), isOpened);
  }
  running.kill();
}

async function firstLineOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<string> {
  let text = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.includes("\n")) break;
  }
  return text.split("\n")[0]!;
}

/** Checks that the help names the program as the user has run it. */
async function checkCommandName(directory: string): Promise<void> {
  const program = emittedIn(directory, PROGRAM.path);
  // npx sets it.
  const rows = [["exec", `npx ${config.name}`], ["", "oauth-helper"]] as const;
  for (const [npm_command, name] of rows) {
    const { stdout } = await new Deno.Command("node", {
      args: [program, "--help"],
      env: { npm_command },
    }).output();
    const help = new TextDecoder().decode(stdout);
    assertStringIncludes(help, `\n  ${name} login URL`);
    assertStringIncludes(help, `\n  ${name} COMMAND --help`);
  }
}

Deno.test("the packed package", async (test) => {
  await using folder = await temporaryDirectory("joined_");
  const cwd = folder.path;
  await packInto(cwd);
  const directory = `${cwd}/node_modules/${config.name}`;
  await test.step("has few files, and what is imported on demand stays apart", () =>
    checkLoadedFiles(directory));
  await test.step("has the declarations and exports of the sources", () =>
    checkExports(directory));
  await test.step("loads node:http in Node only when a receiver listens", () =>
    checkNodeHttp(cwd));
  await test.step("runs the first program of README", () =>
    checkFirstProgram(cwd));
  await test.step("runs the web server of README", () => checkWebServer(cwd));
  await test.step("names its commands as npx runs them", () =>
    checkCommandName(directory));
});

Deno.test("joinModules() writes maps to the sources, and no statement that bundlers keep", async () => {
  await using folder = await temporaryDirectory("joined_");
  const directory = folder.path;
  await emitInto(directory);
  const declarations = ["lib/core/errors.d.ts", "lib/core/errors.d.ts.map"];
  for (const path of declarations) {
    await Deno.writeTextFile(`${directory}/${path}`, path);
  }
  await joinModules(directory);
  for (const path of declarations) {
    assertEquals(await Deno.readTextFile(`${directory}/${path}`), path);
  }
  const files = await Array.fromAsync(
    filesBelow(new URL(`file://${directory}/`)),
  );
  const found = new Set<string>();
  for (const path of files) {
    if (!path.endsWith(".js")) continue;
    const map = JSON.parse(await Deno.readTextFile(`${directory}/${path}.map`));
    for (const source of map.sources) {
      const from = relative(
        fileURLToPath(root),
        join(directory, dirname(path), source),
      );
      found.add(from);
    }
  }
  const known = await sources();
  assertEquals([...found].filter((path) => !known.includes(path)), []);
  assert(found.has("lib/core/constants.ts"), [...found].join(", "));

  const where = "lib/core/_arguments.ts";
  const lines = (await Deno.readTextFile(new URL(where, root))).split("\n");
  const line = 1 +
    lines.findIndex((one) => one.includes("new OAuthClientError("));
  const program = `import { fileStore } from "./lib/native/mod.js";
    try { fileStore(""); } catch ({ stack }) { console.log(stack); }`;
  await Deno.writeTextFile(`${directory}/program.mjs`, program);
  const args = ["--enable-source-maps", "program.mjs"];
  assertStringIncludes(
    await outputOf("node", args, { cwd: directory }),
    `${where}:${line}:`,
  );

  // Without the package.json that says so, a bundler has to see it.
  for (const layer of ["core", "client"]) {
    const { outputFiles } = await esbuild.build({
      stdin: {
        contents: `import "./shared/${layer}.js";`,
        resolveDir: directory,
      },
      bundle: true,
      format: "esm",
      platform: "neutral",
      write: false,
    });
    assertEquals(outputFiles[0]!.text, "", layer);
  }
  await esbuild.stop();
});
