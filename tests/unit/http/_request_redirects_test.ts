import { assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { exchange, type IRequest } from "../../../lib/http/_request.ts";
import type { IReply } from "../../../lib/http/_response.ts";
import { type IFetchResponse, OAuthClientError } from "../../../mod.ts";
import {
  type Answer,
  deferred,
  redirect,
  stubFetch,
} from "../../support/stub_fetch.ts";

const ORIGIN = "https://api.example";
const URL_1 = `${ORIGIN}/1`;
const GET: IRequest = { url: URL_1, purpose: "token", headers: {} };
const POST: IRequest = { ...GET, body: "x" };

/** An error of the reply itself, as every caller makes one. */
const read = async (reply: IReply) =>
  await reply.error("unexpected_status", "Not here");

/** A response of the caller's fetch with more than it must have. */
function minimal(members: Partial<IFetchResponse>): IFetchResponse {
  return {
    status: 200,
    statusText: "",
    json: () => Promise.reject(new Error("No JSON")),
    text: () => Promise.resolve("text"),
    ...members,
  };
}

const at = (n: number) => `${ORIGIN}/${n}`;
const CHAIN = Object.fromEntries(
  [1, 2, 3, 4, 5, 6].map((n) => [at(n), redirect(at(n + 1))]),
);
const ELSEWHERE = "was redirected to another origin, ";
const REFUSED: [
  name: string,
  request: IRequest,
  routes: Record<string, Answer>,
  problem: string,
  status?: number,
][] = [
  ...[
    ["https://evil.example/1", "https://evil.example"],
    ["//evil.example/1", "https://evil.example"],
    ["https://api.example:8443/1", "https://api.example:8443"],
    ["http://api.example/1", "http://api.example"],
    ["https://user:s3cret@evil.example/1", "https://evil.example"],
    ["data:application/json,{}", "null"],
  ].map(([location, origin]): typeof REFUSED[number] => [
    `to ${location}`,
    GET,
    { [URL_1]: redirect(location!) },
    ELSEWHERE + origin,
  ]),
  [
    "to what is no URL",
    GET,
    { [URL_1]: redirect("https://[") },
    "was redirected to no URL",
  ],
  [
    "of a POST",
    POST,
    { [URL_1]: redirect("/2") },
    "was redirected, and a POST is not repeated elsewhere",
  ],
  [
    "of a POST with a body to keep",
    POST,
    { [URL_1]: redirect("/2", 307) },
    "was redirected, and a POST is not repeated elsewhere",
    307,
  ],
  [
    "that a browser hides",
    GET,
    { [URL_1]: () => minimal({ status: 0, type: "opaqueredirect" }) },
    "was redirected, and this runtime does not tell where",
    0,
  ],
];

for (const [name, request, routes, problem, status = 302] of REFUSED) {
  Deno.test(`exchange() tells why it follows no redirect ${name}`, async () => {
    using server = stubFetch(routes);
    const error = await exchange(request, server, read);
    assertEquals(
      [error.code, error.url, error.status, error.message],
      ["redirect_refused", URL_1, status, "Not here"],
    );
    const { cause } = error;
    assertInstanceOf(cause, OAuthClientError);
    assertEquals(
      [cause.code, cause.url, cause.message],
      ["redirect_refused", URL_1, `Request to ${URL_1} ${problem}`],
    );
    assertEquals(server.urls, [URL_1]);
  });
}

Deno.test("exchange() tells that it follows no sixth redirect", async () => {
  using server = stubFetch(CHAIN);
  const error = await exchange(GET, server, read);
  assertEquals([error.code, error.url], ["redirect_refused", URL_1]);
  assertInstanceOf(error.cause, OAuthClientError);
  assertEquals(
    error.cause.message,
    `Request to ${at(6)} was redirected more than 5 times`,
  );
  assertEquals(server.urls, [1, 2, 3, 4, 5, 6].map(at));
});

Deno.test("exchange() lets a caller say more of a refused redirect", async () => {
  using server = stubFetch({ [URL_1]: redirect("https://evil.example/") });
  const cause = new Error("mine");
  const error = await exchange(
    GET,
    server,
    (reply) => Promise.resolve(reply.error("oauth_error", "No", { cause })),
  );
  assertEquals([error.code, error.cause], ["redirect_refused", cause]);
});

Deno.test("exchange() takes no other reply for a refused redirect", async () => {
  const answers = [
    redirect("/2", 300),
    redirect("/2", 404),
    redirect("", 302),
    () => new Response("Moved", { status: 302 }),
    () => minimal({ status: 302 }),
    () => minimal({ type: "basic" }),
  ];
  for (const answer of answers) {
    using server = stubFetch({ [URL_1]: answer });
    const error = await exchange(GET, server, read);
    assertEquals([error.code, error.cause], ["unexpected_status", undefined]);
    assertEquals(server.urls, [URL_1]);
  }
});

Deno.test("exchange() refuses what another origin answered to a fetch that follows by itself", async () => {
  const rows: [url: string, origin: string][] = [
    ["https://evil.example/1", "https://evil.example"],
    ["https://api.example:8443/1", "https://api.example:8443"],
    ["http://api.example/1", "http://api.example"],
    ["https://u:s3cret@evil.example/s3cret", "https://evil.example"],
  ];
  for (const [url, origin] of rows) {
    for (const request of [GET, POST]) {
      const cancelled = deferred<string>();
      const cancel = () => cancelled.resolve("cancelled");
      const body = new ReadableStream({ cancel });
      using server = stubFetch({ [URL_1]: () => minimal({ url, body }) });
      const error = await assertRejects(
        () => exchange(request, server, read),
        OAuthClientError,
      );
      assertEquals([error.code, error.url], ["redirect_refused", URL_1]);
      assertEquals(
        error.message,
        `Request to ${URL_1} was answered by another origin, ${origin}`,
      );
      assertEquals(await cancelled.promise, "cancelled");
    }
  }
});

Deno.test("exchange() takes a reply of its own origin, or of no address", async () => {
  for (const url of ["", "no URL", URL_1, `${ORIGIN}/other`]) {
    using server = stubFetch({ [URL_1]: () => minimal({ url }) });
    const text = await exchange(GET, server, (reply) => reply.text());
    assertEquals(text, "text");
  }
});
