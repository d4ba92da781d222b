/** A token in the formats of hosts, each as its document describes it. */

import { assertEquals } from "@std/assert";
import {
  type PrintedToken,
  TOKEN_FORMATS,
} from "../../../lib/cli/_token_formats.ts";
import { eachRow } from "../../support/each_row.ts";

const TOKEN: PrintedToken = {
  token: "t0ken",
  expiry: 1_520_271_020,
  username: "ada",
  env: {},
};

const V1 = "client.authentication.k8s.io/v1";
const VALUE = { kind: "ExecCredential", apiVersion: `${V1}beta1`, spec: {} };

// Quoted on 28 November 2026:
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
Deno.test("TOKEN_FORMATS.kubernetes() returns an ExecCredential", () => {
  const expirationTimestamp = "2018-03-05T17:30:20Z";
  const rows: [quoted: string, Partial<PrintedToken>, unknown[]][] = [
    [
      "the plugin returns a token in the status of the `ExecCredential`",
      {},
      [V1, { token: "t0ken", expirationTimestamp }],
    ],
    [
      "Optionally, the response can include the expiry of the credential " +
      "formatted as a RFC 3339 timestamp.",
      { expiry: undefined },
      [V1, { token: "t0ken" }],
    ],
    ["a server's lifetime that is no date", { expiry: 1e20 }, [V1, {
      token: "t0ken",
    }]],
    [
      "read the version from the ExecCredential object in the " +
      "KUBERNETES_EXEC_INFO environment variable",
      { env: { KUBERNETES_EXEC_INFO: JSON.stringify(VALUE) } },
      [`${V1}beta1`, { token: "t0ken", expirationTimestamp }],
    ],
    ...["", "{", "null", "{}", '{"apiVersion":1}', '{"apiVersion":"v1"}'].map(
      (text): [string, Partial<PrintedToken>, unknown[]] => [
        "another program's variable",
        { env: { KUBERNETES_EXEC_INFO: text }, expiry: undefined },
        [V1, { token: "t0ken" }],
      ],
    ),
  ];
  eachRow(rows, ([, given, [apiVersion, status]]) => {
    const written = TOKEN_FORMATS.kubernetes({ ...TOKEN, ...given });
    assertEquals(JSON.parse(JSON.stringify(written)), {
      apiVersion,
      kind: "ExecCredential",
      status,
    });
  });
});

// Quoted on 28 November 2026:
// https://docs.docker.com/reference/cli/docker/login/#credential-helper-protocol
Deno.test("TOKEN_FORMATS.docker() returns what a helper writes for get", () => {
  // "Docker reads the user name and password from this payload"
  const payload = '{ "Username": "david", "Secret": "passw0rd1" }';
  const written = TOKEN_FORMATS.docker({
    ...TOKEN,
    username: "david",
    token: "passw0rd1",
  });
  assertEquals(JSON.stringify(written), payload.replaceAll(" ", ""));
});
