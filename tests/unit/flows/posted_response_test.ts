/** The authorization response in the body of a `POST` (`response_mode=form_post`). */

import { serverOf } from "../../../lib/session/_parties.ts";
import { assert, assertEquals } from "@std/assert";
import {
  createAuthorizedFetch,
  finishAuthorization,
  parseAuthorizationResponse,
  type PendingAuthorization,
  startAuthorization,
} from "../../../mod.ts";
import {
  CODE_SERVER,
  CONTEXT,
  MCP,
  pinRejected,
  pinThrown,
  REDIRECT_URI,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import { SESSION } from "../../support/resource.ts";
import { json, stubFetch, untyped } from "../../support/stub_fetch.ts";

const { issuer } = CODE_SERVER;
const client = { ...SESSION.client, issuer };

async function start(): Promise<PendingAuthorization> {
  const redirectUri = REDIRECT_URI;
  const parameters = { response_mode: "form_post" };
  const options = { client, redirectUri, parameters };
  return (await startAuthorization(CONTEXT, options)).pending;
}

const formOf = ({ state }: PendingAuthorization) =>
  new URLSearchParams({ code: "c0de", state, iss: issuer });

// As behind a proxy, which changes the origin.
const URL_BEHIND = `http://internal:3000${new URL(REDIRECT_URI).pathname}`;

function post(
  body: BodyInit,
  { url = URL_BEHIND, type = undefined as string | undefined } = {},
): Request {
  const headers = new Headers(type ? { "Content-Type": type } : undefined);
  return new Request(url, { method: "POST", body, headers });
}

const server = () =>
  stubFetch({ [TOKEN_ENDPOINT]: json({ access_token: "a1" }) });

Deno.test("finishAuthorization() and finish() read the body of a POST", async () => {
  for (const type of [undefined, "Application/X-WWW-form-urlencoded"]) {
    const pending = await start();
    using stub = server();
    const request = post(formOf(pending), type ? { type } : {});
    const session = await finishAuthorization(request, pending, stub);
    assertEquals(session.token.access_token, "a1");
    const sent = new URLSearchParams(stub.requests[0]?.body);
    assertEquals(sent.get("code"), "c0de");
  }
  const pending = await start();
  using stub = server();
  const api = createAuthorizedFetch(MCP, {
    client,
    fetch: untyped(stub.fetch),
  });
  const { token } = await api.finish(post(formOf(pending)), pending);
  assertEquals(token.access_token, "a1");
});

Deno.test("finishAuthorization() checks the parameters of a POST like those of a URL", async () => {
  const pending = await start();
  const form = formOf(pending);
  const twice = `${form}&code=other`;
  const other = new URLSearchParams({
    ...Object.fromEntries(form),
    state: "x",
  });
  const type = "application/x-www-form-urlencoded";
  const url = "https://c.example/elsewhere";
  const rows = [post(form, { url }), post(twice, { type }), post(other)];
  for (const request of rows) {
    using stub = stubFetch({});
    const finished = () => finishAuthorization(request, pending, stub);
    const code = "invalid_authorization_response";
    await pinRejected(finished, code);
  }
});

Deno.test("finishAuthorization() checks the query to which a response was posted", async () => {
  const redirectUri = `${REDIRECT_URI}?as=1`;
  const pending = { ...await start(), redirectUri };
  const finish = async (query: string) => {
    using stub = server();
    const url = URL_BEHIND + query;
    const request = post(formOf(pending), { url });
    return await finishAuthorization(request, pending, stub);
  };
  assertEquals((await finish("?as=1")).token.access_token, "a1");
  const code = "invalid_authorization_response";
  await pinRejected(() => finish("?as=2"), code);
});

Deno.test("finishAuthorization() says what to pass if it cannot read the body of a POST", async () => {
  const pending = await start();
  const form = formOf(pending);
  const used = post(form);
  await used.text();
  const locked = post(form);
  locked.body?.getReader();
  let pulled = 0;
  const endless = new ReadableStream({
    pull(controller) {
      pulled++;
      controller.enqueue(new TextEncoder().encode("a".repeat(1_000)));
    },
  });
  const type = "application/x-www-form-urlencoded";
  const requests = [
    used,
    locked,
    post(form.toString(), { type: "text/plain" }),
    post(JSON.stringify(Object.fromEntries(form)), {
      type: "application/json",
    }),
    post("code=c0de"),
    post(`${form}&x=${"a".repeat(16_384)}`, { type }),
    new Request(URL_BEHIND, {
      method: "POST",
      headers: { "Content-Type": type },
      body: endless,
      ...{ duplex: "half" },
    }),
    new Request(URL_BEHIND, { method: "POST" }),
  ];
  for (const request of requests) {
    using stub = stubFetch({});
    await pinRejected(
      () => finishAuthorization(request, pending, stub),
      "invalid_argument",
    );
  }
  assert(pulled < 30, `${pulled}`);
});

Deno.test("finishAuthorization() stops to wait for the body of a POST at an abort", async () => {
  const pending = await start();
  const controller = new AbortController();
  const request = new Request(URL_BEHIND, {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body: new ReadableStream({ pull: () => new Promise(() => {}) }),
    ...{ duplex: "half" },
  });
  const { signal } = controller;
  const finished = finishAuthorization(request, pending, { signal });
  const reason = new Error("stopped");
  controller.abort(reason);
  assertEquals(await finished.catch((error) => error), reason);
});

Deno.test("parseAuthorizationResponse() says what to pass for a POST", async () => {
  const pending = await start();
  const expected = { state: pending.state, serverMetadata: serverOf(pending) };
  pinThrown(
    () => parseAuthorizationResponse(post(formOf(pending)), expected),
    "invalid_argument",
  );
  const form = new URLSearchParams(await post(formOf(pending)).text());
  assertEquals(parseAuthorizationResponse(form, expected).code, "c0de");
});
