/**
 * The loopback receiver ends with the response for its state, and with nothing else.
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import {
  createLoopbackReceiver,
  type LoopbackReceiver,
  type LoopbackReceiverOptions,
} from "../../../lib/native/mod.ts";
import { pinMessage } from "../../support/pin_message.ts";
import { deferred, untyped } from "../../support/stub_fetch.ts";
import { skipWaits } from "../../support/timers.ts";
import { LIMIT_MS, until, within } from "../../support/within.ts";
import { codeFlow } from "../../../mod.ts";
import {
  assertRejectsCode,
  CONTEXT,
  pinRejected,
  pinThrown,
  REGISTRATION_ENDPOINT,
} from "../../support/fixtures.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

const STATE = "s1";
const AUTHORIZATION_URL = new URL("https://as.example/authorize?client_id=c1");

const ignore = () => {};

/** Requests a path of the receiver, as a browser does. */
async function browse(redirectUri: string, path: string, method = "GET") {
  // Not by the name: it may resolve to another interface of this machine.
  const base = redirectUri.replace("localhost", "127.0.0.1");
  const response = await fetch(new URL(path, base), { method });
  return { response, text: await response.text() };
}

/** Starts a visit; `open` is called with the redirect URI. */
async function startVisit(
  open: (redirectUri: string) => unknown,
  options?: LoopbackReceiverOptions,
  signal?: AbortSignal,
) {
  let redirectUri = "";
  const receiver = createLoopbackReceiver({
    open: () => open(redirectUri),
    print: ignore,
    ...options,
  });
  redirectUri = await receiver.redirectUri();
  const pending = { state: STATE, redirectUri };
  const visit = within(
    LIMIT_MS,
    receiver.visit(AUTHORIZATION_URL, { pending, signal }),
  );
  return { receiver, redirectUri, visit };
}

async function assertAborted(
  receiver: LoopbackReceiver,
  redirectUri: string,
): Promise<void> {
  const pending = { state: STATE, redirectUri };
  const signal = AbortSignal.abort(new Error("over"));
  const visit = receiver.visit(AUTHORIZATION_URL, { pending, signal });
  await within(LIMIT_MS, assertRejects(() => visit, Error, "over"));
}

/** Listens on a port as another process does, unless one does already. */
async function occupy(port = 0, address = "127.0.0.1") {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.once("error", () => resolve());
    server.listen(port, address, () => resolve());
  });
  const used = (server.address() as AddressInfo | null)?.port ?? port;
  const close = () =>
    new Promise<void>((resolve) => server.close(() => resolve()));
  return { port: used, [Symbol.asyncDispose]: close };
}

/** Ends a visit: the browser comes back with a code. */
const comeBack = (redirectUri: string) =>
  browse(redirectUri, "/callback?code=c1&state=s1");

/** Checks that a receiver gets no port, as this one is in use; returns the rest of the message. */
async function assertInUse(
  options: LoopbackReceiverOptions,
  port: string,
  request?: Parameters<LoopbackReceiver["redirectUri"]>[0],
): Promise<string> {
  const { message } = await assertRejectsCode(
    () => createLoopbackReceiver(options).redirectUri(request),
    "network_error",
  );
  assertStringIncludes(message, port);
  return message.replace(/\d+/, "PORT");
}

async function assertClosed(redirectUri: string): Promise<void> {
  await assertRejects(() => browse(redirectUri, "/callback"));
}

Deno.test("createLoopbackReceiver() opens the browser and returns the authorization response", async () => {
  const opened: string[] = [];
  const receiver = createLoopbackReceiver({
    print: ignore,
    async open(url) {
      opened.push(url);
      await browse(redirectUri, "/callback?code=c%2Fd&state=s1&iss=a%26b");
    },
  });
  const redirectUri = await receiver.redirectUri();
  const pending = { state: STATE, redirectUri };
  const response = await receiver.visit(AUTHORIZATION_URL, { pending });
  assertEquals(opened, [AUTHORIZATION_URL.href]);
  assertEquals(response.href, `${redirectUri}?code=c%2Fd&state=s1&iss=a%26b`);
  await assertClosed(redirectUri);
});

Deno.test("createLoopbackReceiver() responds to other requests with 404 and goes on waiting", async () => {
  const statuses: number[] = [];
  const { visit, redirectUri } = await startVisit(async (uri) => {
    const rows = [
      ["/"],
      ["/favicon.ico"],
      ["/callback"],
      ["/callback?code=c1"],
      ["/callback?code=c1&state=other"],
      ["/callback/?code=c1&state=s1"],
      ["/other?code=c1&state=s1"],
      ["/callback?code=c1&state=s1", "POST"],
      ["/callback?code=c1&state=s1", "HEAD"],
    ] as const;
    for (const [path, method] of rows) {
      const { response } = await browse(uri, path, method);
      statuses.push(response.status);
    }
    const { response } = await browse(uri, "/callback?code=c2&state=s1");
    statuses.push(response.status);
  });
  assertEquals((await visit).searchParams.get("code"), "c2");
  // The browser may receive the page after the visit has ended.
  await until(LIMIT_MS, () => statuses.length === 10);
  assertEquals(statuses, [...Array(9).fill(404), 200]);
  await assertClosed(redirectUri);
});

/** The header fields of every page. */
const PAGE_FIELDS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
  "Connection": "close",
};

Deno.test("createLoopbackReceiver() shows an escaped page that can load nothing", async () => {
  const pages: Awaited<ReturnType<typeof browse>>[] = [];
  const title = `<script>alert("1")</script> & 'Co'`;
  for (const query of ["code=c1", "error=access_denied", "x=1"]) {
    const controller = new AbortController();
    const { visit } = await startVisit(
      async (uri) => {
        const state = query === "x=1" ? "other" : STATE;
        pages.push(await browse(uri, `/callback?${query}&state=${state}`));
        controller.abort("seen");
      },
      { title },
      controller.signal,
    );
    await visit.catch((reason) => assertEquals(reason, "seen"));
  }
  await until(LIMIT_MS, () => pages.length === 3);
  for (const { response, text } of pages) {
    const fields = Object.entries(PAGE_FIELDS)
      .map(([name]) => [name, response.headers.get(name)]);
    assertEquals(Object.fromEntries(fields), PAGE_FIELDS);
    assert(!text.includes("<script"), text);
    assert(
      text.includes("<h1>&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;"),
    );
  }
  assert(pages[0]?.text.includes("You can close this window."));
  assert(pages[1]?.text.includes("The sign-in has failed."));
});

for (const port of [undefined, 0]) {
  Deno.test(`createLoopbackReceiver() uses a free port with the port ${port}, if the usual one is in use`, async () => {
    await using _usual = await occupy(33418);
    const receivers = [port, port].map((port) =>
      createLoopbackReceiver({ port })
    );
    const isInDocument = port === 0;
    const uris: string[] = [];
    for (const receiver of receivers) {
      uris.push(await receiver.redirectUri({ isInDocument }));
    }
    const ports = uris.map((uri) => new URL(uri).port);
    assert(ports[0] !== ports[1]);
    assert(!ports.includes("33418"), `${ports}`);
    for (const [index, receiver] of receivers.entries()) {
      await assertAborted(receiver, uris[index]!);
      await assertClosed(uris[index]!);
    }
  });
}

Deno.test("createLoopbackReceiver() listens on the given port only", async () => {
  const { port, ...taken } = await occupy();
  const named = { port, host: "localhost", path: "/" } as const;
  pinMessage(await assertInUse(named, `${port}`));
  await taken[Symbol.asyncDispose]();
  const receiver = createLoopbackReceiver(named);
  const redirectUri = await receiver.redirectUri();
  assertEquals(redirectUri, `http://localhost:${port}/`);
  await assertAborted(receiver, redirectUri);
  // A document lists the usual port, a client that the caller has named may be registered
  // with it, and with bind only that is published.
  await using _usual = await occupy(33418);
  const rows = [
    [{}, { isInDocument: true }],
    [{}, { isNamed: true }],
    [{ bind: "127.0.0.1" }, {}],
  ] as const;
  for (const [options, reason] of rows) {
    await assertInUse(options, "33418", reason);
  }
});

/** Whether this machine has the address `::1`. */
const hasIpv6 = Object.values(networkInterfaces()).flat()
  .some((address) => address?.address === "::1");

Deno.test("createLoopbackReceiver() listens on both addresses of localhost", async () => {
  if (!hasIpv6) return;
  const options = { host: "localhost", port: 0 } as const;
  const { visit, redirectUri } = await startVisit(ignore, options);
  const { port } = new URL(redirectUri);
  for (const address of ["127.0.0.1", "[::1]"]) {
    const { response } = await browse(`http://${address}:${port}`, "/");
    assertEquals(response.status, 404);
  }
  // Taken on either is taken.
  await using taken = await occupy(0, "::1");
  const both = { host: "localhost", port: taken.port } as const;
  await assertInUse(both, `${taken.port}`);
  await comeBack(`http://[::1]:${port}`);
  assertEquals((await visit).searchParams.get("code"), "c1");
  for (const address of ["127.0.0.1", "[::1]"]) {
    await assertClosed(`http://${address}:${port}`);
  }
});

/** Visits, and comes back to this URL; returns where to. */
async function respondAt(receiver: LoopbackReceiver, redirectUri: string) {
  const pending = { state: STATE, redirectUri };
  const visit = receiver.visit(AUTHORIZATION_URL, { pending });
  await comeBack(redirectUri);
  return (await within(LIMIT_MS, visit)).href;
}

Deno.test("createLoopbackReceiver() offers localhost in place of a refused 127.0.0.1, unless the host is set", async () => {
  const options = { port: 0, open: false, print: ignore } as const;
  const receiver = createLoopbackReceiver(options);
  const first = await receiver.redirectUri();
  // Another sign-in with the same receiver goes on.
  const other = await receiver.redirectUri();
  const offers = await Promise.all(
    [first, first].map((refused) => receiver.redirectUri({ refused })),
  );
  const second = first.replace("127.0.0.1", "localhost");
  assertEquals(offers, [second, second]);
  if (hasIpv6) {
    const { port } = new URL(second);
    const { response } = await browse(`http://[::1]:${port}`, "/");
    assertEquals(response.status, 404);
  }
  for (const uri of [second, other]) {
    assertEquals(await respondAt(receiver, uri), `${uri}?code=c1&state=s1`);
  }
  await assertClosed(first);

  for (const host of ["127.0.0.1", "localhost"] as const) {
    const named = createLoopbackReceiver({ ...options, host });
    const refused = await named.redirectUri();
    assertEquals(await named.redirectUri({ refused }), refused);
    await assertAborted(named, refused);
    await assertClosed(refused);
  }
});

Deno.test("createLoopbackReceiver() listens on the address of bind only, and keeps the redirect URI", async () => {
  if (!hasIpv6) return;
  const options = { bind: "::1", port: 0 };
  const { visit, redirectUri } = await startVisit(ignore, options);
  const { port, hostname } = new URL(redirectUri);
  assertEquals(hostname, "127.0.0.1");
  await assertClosed(redirectUri);
  await using taken = await occupy(0, "::1");
  const second = { bind: "::1", port: taken.port };
  await assertInUse(second, `${taken.port}`);
  await comeBack(`http://[::1]:${port}`);
  assertEquals((await visit).href, `${redirectUri}?code=c1&state=s1`);
});

Deno.test("createLoopbackReceiver() shows the page of the caller, or goes to its URL", async () => {
  const policy = "default-src 'none'; style-src 'unsafe-inline'; " +
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  const results: unknown[] = [];
  const show = async (query: string, shown: () => string | URL) => {
    const page = (result: unknown) => {
      results.push(result);
      return shown();
    };
    const { visit, redirectUri } = await startVisit(ignore, { page });
    const url = `${redirectUri}?state=s1&${query}`;
    const response = await fetch(url, { redirect: "manual" });
    const text = await response.text();
    await visit;
    return { response, text };
  };
  const html = "<p style='color:green'>Done</p>";
  const own = await show("code=c1", () => html);
  assertEquals([own.response.status, own.text], [200, html]);
  assertEquals(own.response.headers.get("Content-Security-Policy"), policy);
  const target = new URL("https://app.example/done");
  const { response } = await show("error=access_denied", () => target);
  assertEquals(response.status, 303);
  assertEquals(response.headers.get("Location"), target.href);
  for (const one of [own.response, response]) {
    for (const name of ["Referrer-Policy", "Cache-Control", "Connection"]) {
      assertEquals(one.headers.get(name), PAGE_FIELDS[name as "Connection"]);
    }
  }
  // In place of a page that cannot be shown.
  const failing = () => {
    throw new Error("page() has failed");
  };
  for (const page of [failing, () => new URL("file:///etc/passwd")]) {
    const { response, text } = await show("error=%3Cb%3E", page);
    assertEquals(response.status, 200);
    assert(text.includes("The sign-in has failed."), text);
  }
  assertEquals(results, [
    {},
    { error: "access_denied" },
    { error: "unknown_error" },
    { error: "unknown_error" },
  ]);
});

Deno.test("createLoopbackReceiver() prints the URL before it opens the browser", async () => {
  const opening = "Opening the browser. If no page appears, open this URL:";
  const rows = [
    [false, "Open this URL in a browser:"],
    [() => {}, opening],
    [() => Promise.reject(new Error("no browser")), opening],
    [() => {
      throw new Error("no permission");
    }, opening],
  ] as const;
  await eachRowInTurn(rows, async ([open, message]) => {
    const events: string[] = [];
    const { visit, redirectUri } = await startVisit(ignore, {
      open: open && (() => {
        events.push("open");
        return open();
      }),
      print: (message) => events.push(message),
    });
    await comeBack(redirectUri);
    await visit;
    const printed = `${message}\n${AUTHORIZATION_URL}`;
    assertEquals(events, open ? [printed, "open"] : [printed]);
  });
});

Deno.test("createLoopbackReceiver() prints once after half a minute that it still waits, and the redirect URI", async () => {
  const printed: string[] = [];
  const print = (message: string) => printed.push(message);
  let expected: string;
  {
    using _timers = skipWaits((ms) => ms === 30_000);
    const { visit, redirectUri } = await startVisit(ignore, { print });
    expected = redirectUri;
    await until(LIMIT_MS, () => printed.length > 1);
    await comeBack(redirectUri);
    await visit;
  }
  assertEquals(printed.slice(1), [
    "Still waiting for the sign-in. The URL can be opened again.\n" +
    `If the sign-in page shows an error about the redirect URI, register this one for the client:\n${expected}`,
  ]);
  // The timer of a visit that has ended would be reported as a leak.
  printed.length = 0;
  const { visit, redirectUri } = await startVisit(ignore, { print });
  await comeBack(redirectUri);
  await visit;
  assertEquals(printed.length, 1);
});

Deno.test("createLoopbackReceiver() closes when the signal aborts or the time is over", async () => {
  const controller = new AbortController();
  const reason = new Error("The caller has gone");
  const abort = () => controller.abort(reason);
  const aborted = await startVisit(abort, {}, controller.signal);
  assertEquals(await aborted.visit.catch((error) => error), reason);
  await assertClosed(aborted.redirectUri);

  const late = await startVisit(ignore, { timeoutMs: 20 });
  await pinRejected(() => late.visit, "timeout");
  await assertClosed(late.redirectUri);
});

Deno.test("createLoopbackReceiver() closes when no visit follows in time", async () => {
  const receiver = createLoopbackReceiver({ timeoutMs: 20 });
  const redirectUri = await receiver.redirectUri();
  const isClosed = () =>
    assertClosed(redirectUri).then(() => true, () => false);
  await until(LIMIT_MS, isClosed);
});

/** A flow at a server that responds like this to a registration. */
function flowOf(
  receiver: LoopbackReceiver,
  registered: () => Promise<Response>,
) {
  const authorize = codeFlow({
    ...receiver,
    clientMetadata: { client_name: "Client" },
  });
  const fetch = async (url: string) =>
    url === REGISTRATION_ENDPOINT
      ? await registered()
      : Response.json({ access_token: "t1", token_type: "Bearer" });
  return () => authorize({ context: CONTEXT, scopes: [], fetch });
}

Deno.test("createLoopbackReceiver() closes when a flow fails before its visit, unless another one uses it", async () => {
  let redirectUri = "";
  const isOpen = () =>
    browse(redirectUri, "/callback").then(() => true, () => false);
  const opened: string[] = [];
  const own = createLoopbackReceiver({
    port: 0,
    print: ignore,
    open: (url) => opened.push(url),
  });
  const receiver: LoopbackReceiver = {
    ...own,
    redirectUri: async (request) =>
      redirectUri = await own.redirectUri(request),
  };
  const refusal = { error: "access_denied" };
  const failing = flowOf(
    receiver,
    () => Promise.resolve(Response.json(refusal, { status: 403 })),
  );
  await assertRejectsCode(failing, "oauth_error");
  await until(LIMIT_MS, async () => !await isOpen());
  const registered = deferred<Response>();
  const signingIn = within(
    LIMIT_MS,
    flowOf(receiver, () => registered.promise)(),
  );
  await assertRejectsCode(failing, "oauth_error");
  registered.resolve(Response.json({ client_id: "c1" }, { status: 201 }));
  await until(LIMIT_MS, () => opened.length === 1);
  const state = new URL(opened[0]!).searchParams.get("state");
  await browse(redirectUri, `/callback?code=c1&state=${state}`);
  assertEquals((await signingIn).token.access_token, "t1");
  assertEquals(await isOpen(), false);
});

Deno.test("createLoopbackReceiver() serves several visits at once, and then again", async () => {
  const receiver = createLoopbackReceiver({ open: ignore, print: ignore });
  for (let round = 0; round < 2; round++) {
    const uris = [await receiver.redirectUri(), await receiver.redirectUri()];
    const [redirectUri = ""] = uris;
    assertEquals(uris, [redirectUri, redirectUri]);
    const visits = ["a", "b"].map((state) =>
      within(
        LIMIT_MS,
        receiver.visit(AUTHORIZATION_URL, { pending: { state, redirectUri } }),
      )
    );
    await browse(redirectUri, "/callback?code=1&state=b");
    assertEquals((await visits[1])?.search, "?code=1&state=b");
    await browse(redirectUri, "/callback?code=2&state=a");
    assertEquals((await visits[0])?.search, "?code=2&state=a");
    await assertClosed(redirectUri);
  }
});

Deno.test("createLoopbackReceiver() opens http and https URLs only", async () => {
  const receiver = createLoopbackReceiver({ open: ignore, print: ignore });
  const redirectUri = await receiver.redirectUri();
  const pending = { state: STATE, redirectUri };
  const url = new URL("file:///etc/passwd");
  const call = () => receiver.visit(url, { pending });
  await assertRejectsCode(call, "url_refused");
  await assertClosed(redirectUri);
});

Deno.test("createLoopbackReceiver() rejects a visit without a redirect URI", async () => {
  const pending = { state: STATE, redirectUri: "http://127.0.0.1:1/callback" };
  await assertRejectsCode(
    () => createLoopbackReceiver().visit(AUTHORIZATION_URL, { pending }),
    "invalid_argument",
  );
});

Deno.test("createLoopbackReceiver() checks its options", () => {
  const rows = [
    { port: -1 },
    { port: 65_536 },
    { host: "::1" },
    { path: "callback" },
    { path: "/a?b" },
    { open: true },
    { print: "x" },
    { title: "" },
    { timeoutMs: 0 },
    { timeoutMs: NaN },
    { openBrowser: () => {} },
  ];
  for (const options of rows) {
    const create = () => createLoopbackReceiver(untyped(options));
    pinThrown(create, "invalid_argument");
  }
});
