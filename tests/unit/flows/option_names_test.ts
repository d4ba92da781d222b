/** Flows reject options that they don't have: TypeScript knows, JavaScript is told. */

import { assertStringIncludes } from "@std/assert";
import {
  assertionFlow,
  cibaFlow,
  clientCredentialsFlow,
  codeFlow,
  crossAppFlow,
  deviceFlow,
  exchangeFlow,
  memoryStore,
} from "../../../mod.ts";
import {
  AS,
  assertThrowsCode,
  CODE_SERVER,
  MCP,
  pinRejected,
  pinThrown,
  REDIRECT_URI,
} from "../../support/fixtures.ts";
import { resourceFetch } from "../../support/resource.ts";
import { untyped } from "../../support/stub_fetch.ts";

const client = { issuer: AS, client_id: "c1" };
const value = () => Promise.resolve("value");

/** Each flow with the options that it requires, and one that it has as well. */
const FLOWS: [
  name: string,
  create: (options: object) => unknown,
  required: object,
  other: object,
][] = [
  [
    "codeFlow",
    (options) => codeFlow(untyped(options)),
    { client, redirectUri: REDIRECT_URI, visit: value },
    // A function of a receiver, such as that of a page.
    { assumePkce: true, resume: value },
  ],
  [
    "deviceFlow",
    (options) => deviceFlow(untyped(options)),
    { client, show: value },
    { offlineAccess: true },
  ],
  [
    "cibaFlow",
    (options) => cibaFlow(untyped(options)),
    { client, getLoginHint: value },
    { requestedExpirySeconds: 60 },
  ],
  [
    "clientCredentialsFlow",
    (options) => clientCredentialsFlow(untyped(options)),
    { client },
    { scopes: ["read"] },
  ],
  [
    "assertionFlow",
    (options) => assertionFlow(untyped(options)),
    { client, getAssertion: value },
    { parameters: {} },
  ],
  [
    "crossAppFlow",
    (options) => crossAppFlow(untyped(options)),
    { client, idp: AS, idpClient: client, getSubjectToken: value },
    { assumeProfile: true },
  ],
  [
    "exchangeFlow",
    (options) => exchangeFlow(untyped(options)),
    { client, getSubjectToken: value },
    { audience: "api" },
  ],
];

for (const [name, create, required, other] of FLOWS) {
  Deno.test(`${name}() rejects an option that it doesn't have`, () => {
    create({ ...required, ...other, scope: undefined });
    const wrong = (option: object) => () => create({ ...required, ...option });
    pinThrown(wrong({ scope: ["read"] }), "invalid_argument");
    const error = assertThrowsCode(
      wrong({ skewSeconds: 60 }),
      "invalid_argument",
    );
    assertStringIncludes(error.message, "skewSeconds");
  });

  Deno.test(`${name} that is passed to a fetch without being called is named`, async () => {
    const { api } = resourceFetch(() => undefined, {
      serverMetadata: CODE_SERVER,
      store: memoryStore(),
      tokenRequired: true,
      flow: untyped(create),
    });
    await pinRejected(() => api(MCP), "invalid_argument");
  });
}
