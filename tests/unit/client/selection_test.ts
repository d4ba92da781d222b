/** A known client comes before a document, and a document before a registration. */

import { assertEquals, assertStrictEquals } from "@std/assert";
import {
  type IAuthorizationServerMetadata,
  type KnownClient,
  selectClient,
  type SelectClientOptions,
} from "../../../mod.ts";
import {
  AS,
  pinThrown,
  REGISTRATION_ENDPOINT,
} from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { eachRow } from "../../support/each_row.ts";

const DOCUMENT = "https://my-client.example/oauth/client.json";

const server = (
  members: Partial<IAuthorizationServerMetadata> = {},
): IAuthorizationServerMetadata => ({
  issuer: AS,
  response_types_supported: ["code"],
  ...members,
});
const known = (issuer: string, client_id = "c1"): KnownClient => ({
  issuer,
  client_id,
  client_secret: "s3cret",
});

const SUPPORTS = { client_id_metadata_document_supported: true };
const REGISTERS = { registration_endpoint: REGISTRATION_ENDPOINT };
const BOTH = { ...SUPPORTS, ...REGISTERS };
const WITH_DOCUMENT = { clientMetadataUrl: DOCUMENT };
const WITH_CLIENT = { knownClients: [known(AS)] };

Deno.test("selectClient() prefers a known client, then the document, then registration", () => {
  type Metadata = Partial<IAuthorizationServerMetadata>;
  const rows: [Metadata, SelectClientOptions, kind: string][] = [
    [{}, {}, "ask_user"],
    [REGISTERS, {}, "register"],
    [SUPPORTS, {}, "ask_user"],
    [BOTH, {}, "register"],
    [{}, WITH_DOCUMENT, "ask_user"],
    [REGISTERS, WITH_DOCUMENT, "register"],
    [SUPPORTS, WITH_DOCUMENT, "client_metadata_document"],
    [BOTH, WITH_DOCUMENT, "client_metadata_document"],
    [{}, WITH_CLIENT, "known_client"],
    [BOTH, { ...WITH_CLIENT, ...WITH_DOCUMENT }, "known_client"],
    [REGISTERS, { knownClients: [] }, "register"],
    [{ registration_endpoint: "" }, {}, "ask_user"],
  ];
  for (const [members, options, kind] of rows) {
    const selection = selectClient(server(members), options);
    assertEquals(selection.kind, kind, JSON.stringify([members, options]));
  }
});

Deno.test("selectClient() selects a known client only for its own issuer", () => {
  const others = `${AS}// ${AS}/t1 https://AS.example http://as.example ` +
    `${AS}:443 ${AS}.evil.example https://other.example`;
  for (const issuer of others.split(" ")) {
    const knownClients = [known(issuer)];
    const selection = selectClient(server(), { knownClients });
    assertEquals(selection, { kind: "ask_user" }, issuer);
  }
});

Deno.test("selectClient() returns the first client of the issuer unchanged", () => {
  const other = known("https://other.example", "c0");
  const knownClients = [other, known(AS, "c1"), known(AS, "c2")];
  const selection = selectClient(server(), { knownClients });
  const selected = "client" in selection && selection.client;
  assertStrictEquals(selected, knownClients[1]);
});

Deno.test("selectClient() selects a known client whose issuer differs by a slash at the end", () => {
  const client = known(`${AS}/`);
  assertEquals(selectClient(server(), { knownClients: [client] }), {
    kind: "known_client",
    client: { ...client, issuer: AS },
  });
});

Deno.test("selectClient() rejects a known client with a secret that names no issuer", () => {
  const { issuer: _, ...unbound } = known(AS);
  pinThrown(
    () => selectClient(server(), { knownClients: [untyped(unbound)] }),
    "invalid_argument",
  );
});

Deno.test("selectClient() returns the document as a public client of the issuer", () => {
  const odd = "https://my-client.example:8443//a%7Eb/?v=1";
  for (const clientMetadataUrl of [DOCUMENT, new URL(DOCUMENT), odd]) {
    const selection = selectClient(server(SUPPORTS), { clientMetadataUrl });
    assertEquals(selection, {
      kind: "client_metadata_document",
      client: {
        issuer: AS,
        client_id: String(clientMetadataUrl),
        token_endpoint_auth_method: "none",
      },
    });
  }
});

Deno.test("selectClient() needs the exact value true to use the document", () => {
  for (const value of [undefined, false, null, "true", 1, {}]) {
    const members = { client_id_metadata_document_supported: value };
    const metadata = server(untyped(members));
    assertEquals(selectClient(metadata, WITH_DOCUMENT).kind, "ask_user");
  }
});

Deno.test("selectClient() rejects a clientMetadataUrl that cannot be a client_id", () => {
  const urls: unknown[] = [
    ...["", 7, "client.json", "/client.json", "urn:x:y", "data:text/plain,x"],
    ...["https://c.example", "https://c.example/", "https://c.example/?client"],
    ...["http://c.example/c.json", "http://localhost/c.json"],
    ...["https://user@c.example/c.json", "https://:pass@c.example/c.json"],
    ...["https://c.example/c.json#a", "https://c.example/c.json#"],
    new URL("https://c.example/c.json#a"),
    // Not in canonical form.
    ...["https://c.example?client", "https://C.example/c.json"],
    ...["https://c.example:443/c.json", "HTTPS://c.example/c.json"],
    ...["https://c.example/a/../c.json", "https://c.example/./c.json"],
    ...["https://c.example/c.json\n", " https://c.example/c.json"],
    ...["https://c.example/a b", "https:\\\\c.example\\c.json"],
    "https:c.example/c.json",
  ];
  // Whether this server would use the document makes no difference.
  for (const members of [SUPPORTS, REGISTERS, {}]) {
    for (const clientMetadataUrl of urls.map(untyped)) {
      const options = { ...WITH_CLIENT, clientMetadataUrl };
      pinThrown(
        () => selectClient(server(members), options),
        "invalid_argument",
      );
    }
  }
});

Deno.test("selectClient() ignores a client whose secret has expired", () => {
  const at = 1_700_000_000;
  const rows: [client_secret_expires_at: unknown, isUsed: boolean][] = [
    // RFC 7591, section 3.2.1: the secret does not expire.
    [0, true],
    [at + 1, true],
    [at, false],
    [at - 1, false],
    [1, false],
    // Some servers send a number as a string.
    [String(at + 1), true],
    [String(at), false],
    [String(at - 1), false],
    ["0", true],
    // Anything else counts as absent.
    [{ toString: 1, valueOf: 1 }, true],
    [{}, true],
    [[at - 1], true],
    [null, true],
    ["soon", true],
    ["", true],
  ];
  eachRow(rows, ([client_secret_expires_at, isUsed]) => {
    const expiring = untyped({ ...known(AS), client_secret_expires_at });
    const selected = (knownClients: KnownClient[]) => {
      const now = () => at * 1000;
      const selection = selectClient(server(REGISTERS), { knownClients, now });
      return "client" in selection ? selection.client : selection.kind;
    };
    assertEquals(selected([expiring]), isUsed ? expiring : "register");
    const next = known(AS, "c2");
    assertEquals(selected([expiring, next]), isUsed ? expiring : next);
  });
});

Deno.test("selectClient() uses the clock of the machine by default", () => {
  const seconds = Math.floor(Date.now() / 1000);
  for (const [ahead, kind] of [[60, "known_client"], [-60, "ask_user"]]) {
    const client_secret_expires_at = seconds + Number(ahead);
    const knownClients = [{ ...known(AS), client_secret_expires_at }];
    assertEquals(selectClient(server(), { knownClients }).kind, kind);
  }
});

Deno.test("selectClient() treats null and absent options as empty", () => {
  for (const options of [undefined, null, { knownClients: null }]) {
    const { kind } = selectClient(server(), untyped(options));
    assertEquals(kind, "ask_user");
  }
});

Deno.test("selectClient() rejects arguments of the wrong type", () => {
  for (const metadata of [undefined, null, 1, "x", {}]) {
    const call = () => selectClient(untyped(metadata), {});
    pinThrown(call, "invalid_argument");
  }
});
