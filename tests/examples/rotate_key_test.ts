/** The rotation of a client's key, with a server that verifies assertions by jose. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import {
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  type JSONWebKeySet,
  jwtVerify,
} from "jose";
import {
  buildClientCredentialsBody,
  fetchToken,
  privateKeyJwt,
} from "../../mod.ts";
import { createDesk } from "./_programs.ts";

const issuer = "https://as.example";
const SERVER = { issuer, token_endpoint: `${issuer}/token` };

Deno.test("rotate_key.ts rotates the key of a running client, which a server that has read the printed keys never refuses", async () => {
  await using desk = await createDesk();
  const file = `${dirname(desk.sessionFile)}/keys.json`;
  const step = async (name: string): Promise<JSONWebKeySet> =>
    JSON.parse(await desk.start("rotate_key.ts", "keys.json", name).output());
  // As in service.md.
  const client = privateKeyJwt("c1", async () => {
    const { kid, keys } = JSON.parse(await readFile(file, "utf8"));
    return keys.find((key: { kid: string }) => key.kid === kid);
  }, { issuer });
  /** Requests a token from a server that knows these keys; returns the `kid`. */
  const signedWith = async (published: JSONWebKeySet) => {
    let kid: string | undefined;
    const { access_token } = await fetchToken(
      SERVER,
      buildClientCredentialsBody(),
      {
        client,
        fetch: async (_url, { body }) => {
          const form = new URLSearchParams(body);
          try {
            const { protectedHeader } = await jwtVerify(
              form.get("client_assertion") ?? "",
              createLocalJWKSet(published),
              { issuer: "c1", subject: "c1", audience: issuer },
            );
            kid = protectedHeader.kid;
          } catch {
            return Response.json({ error: "invalid_client" }, { status: 401 });
          }
          return Response.json({ access_token: "t", token_type: "Bearer" });
        },
      },
    );
    assertEquals(access_token, "t");
    return kid;
  };
  const kids = ({ keys }: JSONWebKeySet) => keys.map(({ kid }) => kid);

  const first = await step("add");
  const [one] = kids(first);
  assert(!JSON.stringify(first).includes('"d"'));
  assertEquals(await signedWith(first), one);
  const both = await step("add");
  const [, two] = kids(both);
  assertEquals(kids(both), [one, two]);
  // The server may not have read the new keys yet.
  for (const known of [first, both]) {
    assertEquals(await signedWith(known), one);
  }
  await step("sign");
  assertEquals(await signedWith(both), two);
  // Not yet published: the message leads to the key.
  const error = await signedWith(first).catch((error) => error);
  assertStringIncludes(error.message, "check that the server knows the key");
  const last = await step("remove");
  assertEquals(kids(last), [two]);
  for (const known of [both, last]) {
    assertEquals(await signedWith(known), two);
  }
});

Deno.test("rotate_key.ts prints the public members of an RSA key only", async () => {
  await using desk = await createDesk();
  const { privateKey } = await generateKeyPair("PS256", { extractable: true });
  const key = { ...await exportJWK(privateKey), kid: "rsa", alg: "PS256" };
  const file = `${dirname(desk.sessionFile)}/keys.json`;
  await writeFile(file, JSON.stringify({ kid: "rsa", keys: [key] }));
  const output = await desk.start("rotate_key.ts", "keys.json", "add").output();
  const [printed] = (JSON.parse(output) as JSONWebKeySet).keys;
  assertEquals(Object.keys(printed!).sort(), ["alg", "e", "kid", "kty", "n"]);
});
