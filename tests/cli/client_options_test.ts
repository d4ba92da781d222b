/** Clients of the command: by a secret or a key without a user, by a document, and with its ID token. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { exportJWK, exportPKCS8, generateKeyPair } from "jose";
import { getClaimsFromJWT } from "../../mod.ts";
import { startFlowServers } from "../servers/_flow.ts";
import { onFreePort } from "../support/free_port.ts";
import { test } from "./_desk.ts";

const CLIENT = {
  client_id: "job",
  grant_types: ["client_credentials"],
  redirect_uris: [],
  response_types: [],
};

test("login --client-credentials signs in without a user, by a secret and by a key, and token repeats it", async (desk) => {
  const { publicKey, privateKey } = await generateKeyPair("ES256", {
    extractable: true,
  });
  const jwk = { ...await exportJWK(publicKey), alg: "ES256", use: "sig" };
  await using servers = await startFlowServers({
    clients: [
      { ...CLIENT, client_secret: "s3cret" },
      {
        ...CLIENT,
        client_id: "signer",
        token_endpoint_auth_method: "private_key_jwt",
        token_endpoint_auth_signing_alg: "ES256",
        jwks: { keys: [jwk] },
      },
    ],
  });
  const { server: { issuer, requests }, protectedResource } = servers;
  const { resource } = protectedResource;
  const file = async (name: string, text: string) => {
    const path = `${desk.home}/${name}`;
    await Deno.writeTextFile(path, text);
    return path;
  };
  const privateJwk = { ...await exportJWK(privateKey), alg: "ES256" };
  const rows = [
    ["job", `--client-secret-file=${await file("secret", "s3cret\n")}`],
    [
      "signer",
      `--key-file=${await file("key.pem", await exportPKCS8(privateKey))}`,
    ],
    ["signer", `--key-file=${await file("key", JSON.stringify(privateJwk))}`],
  ];
  for (const [id, credentials] of rows) {
    const options = [
      ...["--client-credentials", `--client-id=${id}`, credentials!],
      ...[`--issuer=${issuer}`, "--scope=mcp:read", "--no-input"],
    ];
    const login = await desk.run(["login", ...options, "--fresh", resource]);
    assertEquals(login.code, 0, login.errors);
    assertEquals(requests.filter((one) => one.startsWith("GET /auth")), []);
    await desk.change();
    requests.length = 0;
    const again = await desk.run(["token", ...options, resource]);
    assertEquals(again.code, 0, again.errors);
    assertEquals(requests.filter((one) => one === "POST /token").length, 1);
    // A session contains the secret of its client, and never a key.
    const printed = JSON.stringify([login, again]);
    const kept = JSON.stringify(await desk.sessions());
    assert(!/s3cret/.test(printed) && !/PRIVATE KEY/.test(printed + kept));
    assert(!(printed + kept).includes(privateJwk.d!));
  }
});

test("login --client-credentials reads a secret once, because it may come from a pipe", async (desk) => {
  await using servers = await startFlowServers({
    clients: [{ ...CLIENT, client_secret: "s3cret" }],
  });
  const { server: { issuer }, protectedResource: { resource } } = servers;
  const pipe = `${desk.home}/pipe`;
  await new Deno.Command("mkfifo", { args: [pipe] }).output();
  const writing = new Deno.Command("sh", {
    args: ["-c", `printf s3cret > "${pipe}"`],
  }).output();
  const { code, errors } = await desk.run([
    ...["login", "--client-credentials", "--client-id=job"],
    ...[`--client-secret-file=${pipe}`, `--issuer=${issuer}`, resource],
  ]);
  assertEquals(code, 0, errors);
  await writing;
});

test("login --client-metadata-url uses the document as the client", async (desk) => {
  const url = "https://tool.example/client.json";
  await using servers = await startFlowServers({
    clientDocuments: {
      [url]: {
        client_id: url,
        client_name: "Tool",
        redirect_uris: ["http://127.0.0.1/callback"],
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        application_type: "native",
      },
    },
  });
  const { server: { requests }, protectedResource: { resource } } = servers;
  // Not the default port, which a test of another file may have at this moment.
  const login = await onFreePort((port) =>
    desk.signIn([
      ...["login", `--client-metadata-url=${url}`],
      ...[`--redirect-uri=http://127.0.0.1:${port}/callback`, resource],
    ])
  );
  assertEquals(login.code, 0, login.output);
  assertEquals(requests.filter((one) => one === "POST /reg"), []);
  const [{ session } = { session: undefined }] = await desk.sessions();
  assertEquals(session?.client.client_id, url);
});

test("token --id-token prints the ID token, and names the scope that is missing", async (desk) => {
  await using servers = await startFlowServers();
  const { resource } = servers.protectedResource;
  const login = await desk.signIn([
    "login",
    "--scope=openid mcp:read",
    resource,
  ]);
  assertEquals(login.code, 0, login.output);
  const id = await desk.run(["token", "--id-token", resource]);
  assertMatch(id.output, /^ey[\w-]+\.[\w-]+\.[\w-]+\n$/, id.errors);
  const access = await desk.run(["token", resource]);
  assert(access.output !== id.output);
  const headers = await desk.run(["headers", "--id-token", resource]);
  assertEquals(
    JSON.parse(headers.output).Authorization,
    `Bearer ${id.output.trim()}`,
  );
  // The expiry of the token that is printed, and not of the other one.
  await desk.change(({ token }) => token.expires_at = 9_999_999_999);
  const json = await desk.run(["token", "--id-token", "--json", resource]);
  const printed = JSON.parse(json.output);
  assertEquals(printed.access_token, id.output.trim());
  assertEquals(printed.expires_at, getClaimsFromJWT(id.output.trim()).exp);
  await desk.change((session) => {
    session.token.expires_at = Math.floor(Date.now() / 1000) + 3600;
    delete session.token.id_token;
  });
  const without = await desk.run([
    "token",
    "--id-token",
    "--no-input",
    resource,
  ]);
  assert(without.code !== 0);
});

test("login refuses options of a client that exclude each other, and shows no key", async (desk) => {
  const key = `${desk.home}/key`;
  await Deno.writeTextFile(key, '{"d":"s3cret');
  const client = ["--client-id=c1", "--issuer=https://as.example"];
  const rows: [args: string[], message: RegExp][] = [
    [["--client-credentials"], /requires --client-secret-file or --key-file/],
    [["--key-file=f"], /--key-file requires --client-id/],
    [["--client-id=c1", `--key-file=${key}`], /--key-file requires --issuer/],
    [[...client, "--key-file=f", "--client-secret-file=f"], /excludes/],
    [[...client, "--client-metadata-url=https://a.example/c"], /excludes/],
    [
      [...client, "--key-file=f", "--client-credentials", "--device"],
      /needs no --device/,
    ],
    [[...client, `--key-file=${key}`], /the JWK is not valid JSON/],
  ];
  for (const [args, message] of rows) {
    const { code, errors, output } = await desk.run([
      ...["login", ...args, "https://api.example/mcp"],
    ]);
    assert(code === 1 || code === 2, args.join(" "));
    assertMatch(errors, message);
    assertEquals([output, errors.includes("s3cret")], ["", false]);
  }
});
