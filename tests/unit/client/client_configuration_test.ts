/**
 * A registration is deleted with the token and the URL that its server has sent, and
 * no other.
 */

import { assert, assertEquals } from "@std/assert";
import {
  deleteRegistration,
  type DeleteRegistrationOptions,
  type KnownClient,
  registerClient,
} from "../../../mod.ts";
import { AS, assertRejectsCode, pinRejected } from "../../support/fixtures.ts";
import { shown } from "../../support/shown.ts";
import {
  type Answer,
  failing,
  json,
  redirect,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

const TOKEN = "registration-t0ken";
const URI = `${AS}/register/c1`;
const CLIENT: KnownClient = {
  issuer: AS,
  client_id: "c1",
  registration_access_token: TOKEN,
  registration_client_uri: URI,
};

/** Registers at a server; returns the members of the result that delete it. */
async function registered(
  members: Record<string, unknown>,
  registration_endpoint = `${AS}/register`,
  options: { allowHttp?: boolean; issuer?: string } = {},
) {
  const { issuer = AS, allowHttp } = options;
  using stub = stubFetch({
    [registration_endpoint]: json({ client_id: "c1", ...members }),
  });
  const server = { issuer, registration_endpoint };
  const { client_id, issuer: _, ...rest } = await registerClient(server, {}, {
    fetch: stub.fetch,
    allowHttp,
  });
  assertEquals(client_id, "c1");
  return rest as unknown;
}

Deno.test("registerClient() keeps what deletes the registration if it is of the server, and nothing of it otherwise", async () => {
  const token = { registration_access_token: TOKEN };
  const both = (uri: unknown) => ({ ...token, registration_client_uri: uri });
  const kept = [
    URI,
    `${AS}/other?client_id=c1`,
    "https://as.example:443/x",
    "https://reg.example/c1",
  ];
  for (const uri of kept) {
    const endpoint = "https://reg.example/register";
    assertEquals(await registered(both(uri), endpoint), both(uri));
  }
  const dropped: Record<string, unknown>[] = [
    ...[
      ...["https://evil.example/c1", "https://as.example.evil.example/c1"],
      ...["http://as.example/c1", "https://as.example:8443/c1", "/register/c1"],
      ...["https://u:p@as.example/c1", "javascript:alert(1)", "", null, 1, {}],
      ...["http://127.0.0.1/c1", "data:,c1", `${URI}?token=${TOKEN}`],
    ].map(both),
    { ...both(URI), registration_access_token: "" },
    { ...both(URI), registration_access_token: 1 },
    { ...both(URI), registration_access_token: "a\r\nX-Field: b" },
    { ...both(URI), registration_access_token: "a b" },
    { registration_client_uri: URI },
    token,
  ];
  for (const members of dropped) {
    assertEquals(await registered(members), {}, JSON.stringify(members));
  }
  const loopback = "http://127.0.0.1:9";
  assertEquals(
    await registered(both(`${loopback}/c1`), `${loopback}/register`, {
      issuer: loopback,
    }),
    both(`${loopback}/c1`),
  );
});

async function deleted(
  answer: Answer,
  client: Partial<KnownClient> = {},
  options: DeleteRegistrationOptions = {},
) {
  const all = { ...CLIENT, ...client };
  using stub = stubFetch({ [all.registration_client_uri!]: answer });
  const { fetch, requests } = stub;
  await deleteRegistration(all, { fetch, ...options });
  const [{ method, url, headers, body } = {}] = requests;
  return { method, url, headers, body, count: requests.length };
}

Deno.test("deleteRegistration() sends one DELETE with the registration access token", async () => {
  const gone: Answer[] = [
    () => new Response(null, { status: 204 }),
    json({}),
    text("Deleted", 200),
    // The registration is gone, or no longer of this client.
    json({ error: "invalid_token" }, { status: 401 }),
  ];
  for (const answer of gone) {
    assertEquals(await deleted(answer), {
      method: "DELETE",
      url: URI,
      headers: { Authorization: `Bearer ${TOKEN}` },
      body: undefined,
      count: 1,
    });
  }
});

Deno.test("deleteRegistration() takes no 404 or 405 for a deletion, unless a GET shows that the registration is gone", async () => {
  const methods: string[] = [];
  const remove = async (status: number, found: () => Response) => {
    methods.length = 0;
    await deleteRegistration(CLIENT, {
      fetch: (url, { method, headers }) => {
        assertEquals(url, URI);
        assertEquals(headers?.Authorization, `Bearer ${TOKEN}`);
        methods.push(method ?? "");
        return Promise.resolve(
          method === "GET" ? found() : new Response(null, { status }),
        );
      },
    });
    assertEquals(methods, ["DELETE", "GET"]);
  };
  const of = (status: number) => () => new Response(TOKEN, { status });
  const json = () => Response.json({ client_id: "c1", x: TOKEN });
  for (const status of [404, 405]) {
    await remove(status, of(401));
    // The others are of a server without any of these routes.
    for (const found of [json, of(404), of(405), of(403), of(503)]) {
      const error = await pinRejected(
        () => remove(status, found),
        "unexpected_status",
      );
      assertEquals([error.status, error.url], [status, URI]);
      assert(!shown(error).includes(TOKEN), error.message);
    }
  }
});

Deno.test("deleteRegistration() rejects if the registration may still be there, without the token", async () => {
  const rows: [answer: Answer, code: string][] = [
    [text(TOKEN, 405), "unexpected_status"],
    [json({ error: TOKEN }, { status: 403 }), "unexpected_status"],
    [text("", 503), "unexpected_status"],
    [redirect(`${AS}/?${TOKEN}`), "redirect_refused"],
    [failing(new Error(TOKEN)), "network_error"],
  ];
  await eachRowInTurn(rows, async ([answer, code]) => {
    const error = await pinRejected(() => deleted(answer), code);
    assertEquals(error.url, URI);
    assert(!shown(error).includes(TOKEN), error.message);
  });
  const allowUrl = (url: URL, purpose: string) =>
    url.href !== URI || purpose !== "registration";
  const call = () => deleted(json({}), {}, { allowUrl });
  await assertRejectsCode(call, "url_refused");
});

Deno.test("deleteRegistration() makes no request without the token and a URL that may be used", async () => {
  const rows: [client: Record<string, unknown>, code: string][] = [
    [{ registration_access_token: undefined }, "unsupported"],
    [{ registration_client_uri: undefined }, "unsupported"],
    [{ registration_client_uri: 1 }, "url_refused"],
    [{ registration_client_uri: `${URI}\n` }, "url_refused"],
    [{ registration_client_uri: "http://as.example/c1" }, "url_refused"],
    [{ registration_client_uri: "http://127.0.0.1/c1" }, "url_refused"],
    [{ registration_client_uri: "ftp://as.example/c1" }, "url_refused"],
    [{ registration_client_uri: `https://x.example/${TOKEN}` }, "url_refused"],
    [{ registration_client_uri: "https://as.example:8443/c1" }, "url_refused"],
    [{ issuer: "https://as.example.evil.example" }, "url_refused"],
    [{ issuer: undefined }, "url_refused"],
  ];
  await eachRowInTurn(rows, async ([members, code]) => {
    const call = () => deleted(json({}), untyped(members));
    const error = await assertRejectsCode(call, code);
    assert(!shown(error).includes(TOKEN), error.message);
  });
  await assertRejectsCode(
    () => deleteRegistration(untyped(undefined)),
    "invalid_argument",
  );
  const rest: [client: Partial<KnownClient>, DeleteRegistrationOptions][] = [
    [{
      issuer: "http://as.example",
      registration_client_uri: "http://as.example/c1",
    }, { allowHttp: true }],
    [{ issuer: "https://other.example/tenant" }, {
      registrationEndpoint: new URL(`${AS}/register`),
    }],
  ];
  for (const [client, options] of rest) {
    const { count } = await deleted(json({}), client, options);
    assertEquals(count, 1);
  }
});
