/** `response_mode=form_post` and the cookies of `./web`, in Chromium. */

import { assertEquals } from "@std/assert";
import { escapeHtml } from "../../lib/core/_quote.ts";
import { findChromium, startBrowser } from "../support/chromium.ts";
import { World } from "../unit/web/_world.ts";

const HTML = { headers: { "Content-Type": "text/html" } };

Deno.test({
  name:
    "createWebSignIn() finishes a sign-in whose response another site posts, in Chromium",
  ignore: !findChromium(),
  async fn() {
    const methods: string[] = [];
    // Two sites: for cookies, the port does not count, the host does.
    await using listener = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request): Promise<Response> => serve(request),
    );
    const { port } = listener.addr;
    await using other = Deno.serve(
      { hostname: "localhost", port: 0, onListen() {} },
      async ({ url }) => {
        const to = new URL(url).searchParams.get("to")!;
        const { origin, pathname, searchParams } = new URL(
          await world.servers.receiver.visit(to),
        );
        const inputs = [...searchParams].map(([name, value]) =>
          `<input name="${name}" value="${escapeHtml(value)}">`
        ).join("");
        const form = `<form method="post" action="${origin + pathname}">`;
        const script = "<script>document.forms[0].submit()</script>";
        return new Response(`${form}${inputs}</form>${script}`, HTML);
      },
    );
    const origin = `http://127.0.0.1:${port}`;
    const parameters = { response_mode: "form_post" };
    const world = new World({ origin, parameters });
    const serve = async (request: Request): Promise<Response> => {
      const { pathname } = new URL(request.url);
      if (pathname === "/callback") methods.push(request.method);
      if (pathname === "/") {
        const api = await world.signIn.apiOf(request);
        return new Response(`<h1>${api ? "in" : "out"}</h1>`, HTML);
      }
      const response = await world.serve(request);
      const to = response.headers.get("Location");
      if (pathname !== "/login" || !to) return response;
      const { port } = other.addr;
      const page = `http://localhost:${port}/?to=${encodeURIComponent(to)}`;
      response.headers.set("Location", page);
      return response;
    };
    await using browser = await startBrowser();
    const page = await browser.attach(await browser.open(`${origin}/login`));
    const shown = await page.find(
      `location.pathname === "/" && document.querySelector("h1")?.textContent`,
    );
    assertEquals([shown, methods], ["in", ["POST", "GET"]]);
  },
});
