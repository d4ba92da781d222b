import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import {
  type IAuthorizationServerMetadata,
  type IKnownClient,
  type ISelectClientOptions,
  OAuthClientError,
  selectClient,
} from "../../../mod.ts";
import { untyped } from "../../support/stub_fetch.ts";

const ISSUER = "https://as.example";
const DOCUMENT = "https://my-client.example/oauth/client.json";

const server = (
  members: Partial<IAuthorizationServerMetadata> = {},
): IAuthorizationServerMetadata => ({
  issuer: ISSUER,
  response_types_supported: ["code"],
  ...members,
});
const known = (issuer: string, client_id = "c1"): IKnownClient => ({
  issuer,
  client_id,
  client_secret: "s3cret",
});

const TAKES = { client_id_metadata_document_supported: true };
const OFFERS = { registration_endpoint: "https://as.example/register" };
const WITH_DOCUMENT = { clientMetadataUrl: DOCUMENT };
const WITH_CLIENT = { knownClients: [known(ISSUER)] };

Deno.test("selectClient() prefers known client, document, registration, user", () => {
  const rows: [
    Partial<IAuthorizationServerMetadata>,
    ISelectClientOptions,
    string,
  ][] = [
    [{}, {}, "ask_user"],
    [OFFERS, {}, "register"],
    [TAKES, {}, "ask_user"],
    [{ ...TAKES, ...OFFERS }, {}, "register"],
    [{}, WITH_DOCUMENT, "ask_user"],
    [OFFERS, WITH_DOCUMENT, "register"],
    [TAKES, WITH_DOCUMENT, "client_metadata_document"],
    [{ ...TAKES, ...OFFERS }, WITH_DOCUMENT, "client_metadata_document"],
    [{}, WITH_CLIENT, "known_client"],
    [
      { ...TAKES, ...OFFERS },
      { ...WITH_CLIENT, ...WITH_DOCUMENT },
      "known_client",
    ],
    [OFFERS, { knownClients: [] }, "register"],
    [{ registration_endpoint: "" }, {}, "ask_user"],
  ];
  for (const [members, options, kind] of rows) {
    assertEquals(
      selectClient(server(members), options).kind,
      kind,
      JSON.stringify([members, options]),
    );
  }
});

Deno.test("selectClient() uses a known client at its own issuer only", () => {
  for (
    const issuer of [
      "https://as.example/",
      "https://as.example/t1",
      "https://AS.example",
      "http://as.example",
      "https://as.example:443",
      "https://as.example.evil.example",
      "https://other.example",
      "",
    ]
  ) {
    assertEquals(
      selectClient(server(), { knownClients: [known(issuer)] }),
      { kind: "ask_user" },
      issuer,
    );
  }
});

Deno.test("selectClient() hands out the first client of the issuer as it is", () => {
  const knownClients = [
    known("https://other.example", "c0"),
    known(ISSUER, "c1"),
    known(ISSUER, "c2"),
  ];
  const selection = selectClient(server(), { knownClients });
  assertStrictEquals(
    "client" in selection && selection.client,
    knownClients[1],
  );
});

Deno.test("selectClient() names the document as a public client's identifier", () => {
  assertEquals(selectClient(server(TAKES), WITH_DOCUMENT), {
    kind: "client_metadata_document",
    client: { client_id: DOCUMENT, token_endpoint_auth_method: "none" },
  });
  // The identifier is the address byte for byte.
  for (
    const clientMetadataUrl of [
      "https://my-client.example/a%7Eb?v=1",
      "https://my-client.example:8443//a/",
    ]
  ) {
    const selection = selectClient(server(TAKES), { clientMetadataUrl });
    assertEquals(
      "client" in selection && selection.client.client_id,
      clientMetadataUrl,
    );
  }
});

Deno.test("selectClient() offers the document only where the server takes it", () => {
  for (const value of [undefined, false, null, "true", 1, {}]) {
    const members = { client_id_metadata_document_supported: value };
    assertEquals(
      selectClient(
        server(members as Partial<IAuthorizationServerMetadata>),
        WITH_DOCUMENT,
      ).kind,
      "ask_user",
    );
  }
});

Deno.test("selectClient() does not use an address that cannot be an identifier", () => {
  for (
    const clientMetadataUrl of [
      "",
      "client.json",
      "/client.json",
      "https://my-client.example",
      "https://my-client.example/",
      "https://my-client.example?client",
      "http://my-client.example/client.json",
      "http://localhost/client.json",
      "https://user@my-client.example/client.json",
      "https://:pass@my-client.example/client.json",
      "https://my-client.example/client.json#a",
      "https://my-client.example/client.json#",
      // Not in the form that a URL parser writes.
      "https://My-Client.example/client.json",
      "https://my-client.example:443/client.json",
      "HTTPS://my-client.example/client.json",
      "https://my-client.example/a/../client.json",
      "https://my-client.example/./client.json",
      "https://my-client.example/client.json\n",
      " https://my-client.example/client.json",
      "https://my-client.example/a b",
      "https:\\\\my-client.example\\client.json",
      "https:my-client.example/client.json",
      "data:application/json,{}",
      "urn:x:y",
    ]
  ) {
    assertEquals(
      selectClient(server({ ...TAKES, ...OFFERS }), { clientMetadataUrl }),
      { kind: "register" },
      clientMetadataUrl,
    );
  }
});

Deno.test("selectClient() passes over a client whose secret has expired", () => {
  const at = 1_700_000_000;
  const rows: [
    client_secret_expires_at: unknown,
    isUsed: boolean,
  ][] = [
    [undefined, true],
    // RFC 7591, section 3.2.1: it does not expire.
    [0, true],
    [at + 1, true],
    [at, false],
    [at - 1, false],
    [1, false],
    // Some servers send digits as a text.
    [String(at + 1), true],
    [String(at), false],
    [String(at - 1), false],
    ["0", true],
    // What is no time at all says nothing.
    [{ toString: 1, valueOf: 1 }, true],
    [{}, true],
    [[at - 1], true],
    [null, true],
    ["soon", true],
    ["", true],
  ];
  for (const [client_secret_expires_at, isUsed] of rows) {
    const expiring: IKnownClient = untyped({
      ...known(ISSUER),
      ...(client_secret_expires_at !== undefined && {
        client_secret_expires_at,
      }),
    });
    const selected = (knownClients: IKnownClient[]) => {
      const now = () => at * 1000;
      const selection = selectClient(server(OFFERS), { knownClients, now });
      return "client" in selection ? selection.client : selection.kind;
    };
    assertEquals(selected([expiring]), isUsed ? expiring : "register");
    const next = known(ISSUER, "c2");
    assertEquals(selected([expiring, next]), isUsed ? expiring : next);
  }
});

Deno.test("selectClient() goes by the clock of this machine", () => {
  const seconds = Math.floor(Date.now() / 1000);
  for (const [ahead, kind] of [[60, "known_client"], [-60, "ask_user"]]) {
    const client_secret_expires_at = seconds + Number(ahead);
    const knownClients = [{ ...known(ISSUER), client_secret_expires_at }];
    assertEquals(selectClient(server(), { knownClients }).kind, kind);
  }
});

Deno.test("selectClient() refuses options that are no object", () => {
  for (const options of [undefined, null, 1, "x"]) {
    const error = assertThrows(
      () => selectClient(server(), options as unknown as ISelectClientOptions),
      OAuthClientError,
      "options must be an object",
    );
    assertEquals(error.code, "invalid_argument");
  }
});

Deno.test("selectClient() refuses a server or known clients that are none", () => {
  const rows: [args: unknown[], name: string][] = [
    ...[undefined, null, 1, "x"].map((one): [unknown[], string] => [
      [one, {}],
      "serverMetadata",
    ]),
    ...[1, "x", true].map((knownClients): [unknown[], string] => [
      [server(), { knownClients }],
      "knownClients",
    ]),
  ];
  for (const [args, name] of rows) {
    const error = assertThrows(
      () => (selectClient as (...args: unknown[]) => unknown)(...args),
      OAuthClientError,
      `${name} must be an object`,
    );
    assertEquals(error.code, "invalid_argument");
  }
});

Deno.test("selectClient() refuses known clients that are no list of registrations", () => {
  const wrong = [[null], [undefined], ["c1"], [known(ISSUER), 7], {}, {
    0: known(ISSUER),
    length: 1,
  }];
  for (const knownClients of wrong) {
    const error = assertThrows(
      () => selectClient(server(), untyped({ knownClients })),
      OAuthClientError,
      "knownClients must be an array of registrations",
    );
    assertEquals(error.code, "invalid_argument");
  }
});

Deno.test("selectClient() takes null for no known clients", () => {
  const options = { knownClients: null } as unknown as ISelectClientOptions;
  assertEquals(selectClient(server(), options).kind, "ask_user");
});
