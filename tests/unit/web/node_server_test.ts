/** A server of Node can be used like one with web requests and responses. */

import { assertEquals } from "@std/assert";
import { sendResponse, webRequestOf } from "../../../lib/web/mod.ts";
import { World } from "./_world.ts";

/** What a server of Node has sent. */
function nodeResponse() {
  const sent = { fields: [["set-cookie", "own=1"]], body: "" };
  const response = {
    statusCode: 200,
    setHeader(name: string, value: string) {
      sent.fields = sent.fields.filter(([other]) => other !== name);
      sent.fields.push([name, value]);
    },
    appendHeader: (name: string, value: string) =>
      sent.fields.push([name, value]),
    end: (body: Uint8Array) => sent.body = new TextDecoder().decode(body),
  };
  return { sent, response };
}

Deno.test("webRequestOf() and sendResponse() serve a server of Node", async () => {
  const world = new World();
  const { signIn } = world;
  const { sent, response } = nodeResponse();
  const login = await signIn.login(webRequestOf({
    method: "GET",
    url: "/",
    // Of a router of Express, at /login.
    originalUrl: "/login?returnTo=/a",
    headers: { cookie: "theme=dark", "sec-fetch-dest": "document" },
  }));
  const [cookie] = login.headers.getSetCookie();
  await sendResponse(login, response);
  assertEquals([response.statusCode, sent.body], [303, ""]);
  const cookies = sent.fields.filter(([name]) => name === "set-cookie");
  assertEquals(cookies, [["set-cookie", "own=1"], ["set-cookie", cookie!]]);
  const [, location = ""] = sent.fields.find(([name]) => name === "location") ??
    [];
  const back = new URL(await world.servers.receiver.visit(location));
  const page = nodeResponse();
  await sendResponse(
    await signIn.callback(webRequestOf({
      url: back.pathname + back.search,
      headers: { cookie: cookie!.split(";")[0] },
    })),
    page.response,
  );
  assertEquals(page.response.statusCode, 303);
  assertEquals(page.sent.fields.find(([name]) => name === "location"), [
    "location",
    "https://app.example/a",
  ]);
});

Deno.test("sendResponse() sends a body, and replaces fields", async () => {
  const { sent, response } = nodeResponse();
  response.setHeader("content-type", "text/html");
  await sendResponse(new Response("ä", { status: 418 }), response);
  assertEquals([response.statusCode, sent.body], [418, "ä"]);
  assertEquals(sent.fields, [["set-cookie", "own=1"], [
    "content-type",
    "text/plain;charset=UTF-8",
  ]]);
});

Deno.test("webRequestOf() reads header fields in any letter case", () => {
  const { method, url, headers } = webRequestOf({
    headers: { origin: "https://app.example", "x-a": ["1", "2"] },
  });
  assertEquals([method, url], ["GET", "/"]);
  assertEquals(
    [headers.get("Origin"), headers.get("X-A"), headers.get("Cookie")],
    ["https://app.example", "1, 2", null],
  );
});

Deno.test("webRequestOf() passes the form of a POST, as a stream or as a parser left it", async () => {
  const parameters = { response_mode: "form_post" };
  const { signIn } = new World({ parameters });
  const node = {
    method: "POST",
    url: "/callback",
    headers: { "content-type": "application/x-www-form-urlencoded" },
  };
  async function* stream() {
    yield new TextEncoder().encode("code=%C3");
    yield await Promise.resolve(new TextEncoder().encode("%A4&state=s"));
  }
  const requests = [
    { ...node, [Symbol.asyncIterator]: stream },
    { ...node, [Symbol.asyncIterator]: stream, body: {} },
    { ...node, body: { code: "ä", state: "s" } },
  ];
  for (const request of requests) {
    const response = await signIn.callback(webRequestOf(request));
    assertEquals(
      [response.status, response.headers.get("Location")],
      [303, "https://app.example/callback?code=%C3%A4&state=s"],
    );
  }
  assertEquals((await signIn.callback(webRequestOf(node))).status, 405);
});
