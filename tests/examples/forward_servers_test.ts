/** Calls that Express in Node forwards to an API, and pages of other sites in Chromium. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { serve } from "../servers/_serve.ts";
import { bundle } from "../support/bundle.ts";
import { findChromium, startBrowser } from "../support/chromium.ts";
import { onFreePort, stop } from "../support/free_port.ts";
import { LIMIT_MS, until, within } from "../support/within.ts";
import { path } from "./_programs.ts";

const MB = 1_048_576;
const HTML = `<!DOCTYPE html><title>Of the API</title>
<meta http-equiv="refresh" content="0; url=/api/refreshed">
<img src="/api/image"><script src="/api/script.js"></script>
<script>fetch("/api/ran")</script>`;

function startApi() {
  const paths: string[] = [];
  let aborts = 0;
  const api = serve(async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    assertMatch(request.headers.get("Authorization") ?? "", /^Bearer /);
    assertEquals(request.headers.get("Cookie"), null);
    paths.push(pathname);
    const name = pathname.replace("/v1/", "");
    const html = { "Content-Type": "text/html" };
    if (name === "page") return new Response(HTML, { headers: html });
    if (/^4\d\d$/.test(name)) {
      return new Response(name, { status: Number(name) });
    }
    if (name === "moved") {
      return Response.redirect(new URL("/v2", request.url), 307);
    }
    if (name === "upload") {
      let length = 0;
      for await (const chunk of request.body!) length += chunk.length;
      return new Response(`${length}`);
    }
    let left = Number(searchParams.get("mb") ?? 0);
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(name)),
      pull(controller) {
        if (left-- > 0) return controller.enqueue(new Uint8Array(MB));
        if (name !== "events") controller.close();
      },
      cancel: () => void aborts++,
    });
    return new Response(body);
  });
  return { ...api, paths, aborts: () => aborts };
}

/** Starts Express in Node; `cookie` is the cookie of the user. */
async function startSite() {
  await using started = new AsyncDisposableStack();
  const directory = await Deno.makeTempDir();
  started.defer(() => Deno.remove(directory, { recursive: true }));
  const api = startApi();
  started.defer(api.close);
  const program = `${directory}/site.mjs`;
  await bundle(path("_forwarding_site.ts"), program, []);
  const site = await onFreePort(async (port) => {
    const child = new Deno.Command("node", {
      args: [program],
      env: { RESOURCE: `${api.origin}/v1`, PORT: `${port}` },
      stderr: "inherit",
      stdout: "null",
    }).spawn();
    const origin = `http://127.0.0.1:${port}`;
    const answers = () =>
      fetch(origin).then((response) => response.text(), () => "");
    await until(LIMIT_MS, async () => await answers() !== "");
    return { child, origin };
  });
  started.defer(() => stop(site.child));
  const { origin } = site;
  const cookies: string[] = [];
  for (let url = `${origin}/start`; cookies.length < 2;) {
    const headers = { Cookie: cookies.join("; ") };
    const response = await fetch(url, { headers, redirect: "manual" });
    await response.body?.cancel();
    url = response.headers.get("Location")!;
    cookies.push(response.headers.getSetCookie().at(-1)!.split(";")[0]!);
  }
  const running = started.move();
  return {
    api,
    origin,
    headers: {
      Cookie: cookies[1]!,
      "Sec-Fetch-Site": "same-origin",
      "Sec-Fetch-Dest": "empty",
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

type Site = Awaited<ReturnType<typeof startSite>>;

/** Sends uploads of megabytes on one connection; returns the responses, each as text. */
async function upload(
  { origin, headers }: Site,
  names: readonly string[],
  mb: number,
): Promise<string[]> {
  const port = Number(new URL(origin).port);
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const fields = Object.entries(headers).map((pair) => pair.join(": "));
  const writer = connection.writable.getWriter();
  const reader = connection.readable.getReader();
  const write = async (name: string) => {
    const head = [
      `PUT /api/${name} HTTP/1.1`,
      "Host: a",
      `Content-Length: ${mb * MB}`,
      ...fields,
    ];
    await writer.write(
      new TextEncoder().encode(head.join("\r\n") + "\r\n\r\n"),
    );
    for (let left = mb; left > 0; left--) {
      await writer.write(new Uint8Array(MB));
    }
  };
  const read = async () => {
    let text = "";
    // Of a known length, or in chunks.
    while (!/\r\n\r\n(\d+|[^]*\r\n0\r\n\r\n)$/.test(text)) {
      const { done, value } = await reader.read();
      assert(!done, `The connection was closed after ${text}`);
      text += new TextDecoder().decode(value);
    }
    return text;
  };
  const responses: string[] = [];
  for (const name of names) {
    const [response] = await within(60_000, Promise.all([read(), write(name)]));
    responses.push(response);
  }
  return responses;
}

Deno.test("Express forwards 200 MB in both directions, and keeps neither", async () => {
  await using site = await startSite();
  const memory = async () =>
    Number(await (await fetch(`${site.origin}/memory`)).text());
  const before = await memory();
  const [up = ""] = await upload(site, ["upload"], 200);
  assert(up.endsWith(`\r\n${200 * MB}`), up);
  const { headers } = site;
  const down = await fetch(`${site.origin}/api/file?mb=200`, { headers });
  let length = 0;
  for await (const chunk of down.body!) length += chunk.length;
  assertEquals(length, 200 * MB + "file".length);
  const grown = (await memory() - before) / 1024;
  assert(grown < 120, `${grown} MB more`);
});

Deno.test("Express forwards events as they come, and ends the API's call when the browser leaves", async () => {
  await using site = await startSite();
  const { origin, headers, api } = site;
  const response = await fetch(`${origin}/api/events`, { headers });
  const reader = response.body!.getReader();
  const { value } = await within(LIMIT_MS, reader.read());
  assertEquals(new TextDecoder().decode(value), "events");
  await reader.cancel();
  await until(LIMIT_MS, () => api.aborts() === 1);
});

Deno.test("Express answers an upload that the API rejects early, on a connection that stays usable", async () => {
  await using site = await startSite();
  const names = ["413", "401", "422", "moved", "413"];
  const responses = await upload(site, names, 32);
  const found = responses.map((one) => [
    /^HTTP\/1.1 (\d+)/.exec(one)?.[1],
    /"code":"(\w+)"/.exec(one)?.[1],
  ]);
  assertEquals(found, [
    ["413", undefined],
    // The token was renewed.
    ["503", "send_again"],
    ["422", undefined],
    ["502", "redirect_refused"],
    ["413", undefined],
  ]);
});

Deno.test("Express explains that a parser has read the body", async () => {
  await using site = await startSite();
  for (const body of ["{}", '{"a":1}']) {
    const headers = { ...site.headers, "Content-Type": "application/json" };
    const init = { method: "POST", headers, body };
    const response = await fetch(`${site.origin}/late`, init);
    assertMatch(await response.text(), /forward before express\.json\(\)/);
  }
  assertEquals(site.api.paths, []);
});

Deno.test({
  name:
    "pages of other sites reach no API in Chromium, and what the API sends runs nothing",
  ignore: findChromium() === undefined,
  async fn() {
    await using site = await startSite();
    const { origin, api } = site;
    const other = serve(() =>
      Promise.resolve(
        new Response("<!DOCTYPE html><title>Other</title>", {
          headers: { "Content-Type": "text/html" },
        }),
      )
    );
    await using stack = new AsyncDisposableStack();
    stack.defer(other.close);
    const browser = stack.use(await startBrowser());
    const page = await browser.attach(await browser.open(`${origin}/start`));
    await page.find(`location.href === "${origin}/"`);
    const open = async (url: string) => {
      await page.send("Page.navigate", { url });
      await page.find(
        `location.href === "${url}" && document.readyState === "complete"`,
      );
    };
    const own = await page.find(`(async () => {
      const response = await fetch("/api/own", { method: "PUT", body: "a" });
      return response.status + await response.text() + document.cookie;
    })()`);
    assertEquals([own, api.paths.splice(0)], ["200own", ["/v1/own"]]);

    // Another port of the host is same-site, another host is cross-site.
    const { port } = new URL(other.origin);
    for (const host of ["127.0.0.1", "localhost"]) {
      await open(`http://${host}:${port}/`);
      await page.find(`(async () => {
        const url = "${origin}/api/other";
        const post = { method: "POST", body: "a", credentials: "include" };
        await Promise.allSettled([
          fetch(url, { credentials: "include" }),
          fetch(url, { mode: "no-cors", credentials: "include" }),
          fetch(url, { ...post, mode: "no-cors" }),
          fetch(url, { ...post, headers: { "X-A": "1" } }),
          ...["img", "script", "iframe", "embed"].map((name) =>
            new Promise((resolve) => {
              const one = document.createElement(name);
              one.onload = one.onerror = resolve;
              one.src = url;
              document.body.append(one);
            })),
        ]);
        return true;
      })()`);
      for (const method of ["get", "post"]) {
        await open(`http://${host}:${port}/`);
        await page.run(`{
          const form = document.createElement("form");
          form.method = "${method}";
          form.enctype = "text/plain";
          form.action = "${origin}/api/form";
          document.body.append(form);
          form.submit();
        }`);
        await page.find(`document.body.innerText.includes("not from a user")`);
      }
      await open(`http://${host}:${port}/`);
      await page.run(`location.href = "${origin}/api/link"`);
      await page.find(`document.body.innerText.includes("not from a user")`);
    }
    assertEquals(api.paths, []);

    await open(`${origin}/`);
    await page.run(`location.href = "/api/page"`);
    await page.find(`document.title === "Of the API"`);
    // What the page started would have come before this.
    await page.send("Page.navigate", { url: `${origin}/` });
    await page.find(`document.title === "Own page"`);
    const script = await page.find(`new Promise((resolve) => {
      const one = document.createElement("script");
      one.onload = () => resolve("ran");
      one.onerror = () => resolve("refused");
      one.src = "/api/script.js";
      document.body.append(one);
    })`);
    assertEquals(script, "refused");
    assertEquals(api.paths, ["/v1/page"]);
  },
});
