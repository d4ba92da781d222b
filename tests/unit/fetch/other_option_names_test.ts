/** Options that other functions than a fetch and its flows do not have. */

import {
  createDpop,
  memoryStore,
  perCaller,
  privateKeyJwt,
  sharedSignIn,
} from "../../../mod.ts";
import {
  denoKvStore,
  durableObjectStore,
  redisStore,
  webStorageStore,
} from "../../../lib/stores/mod.ts";
import {
  createPopupReceiver,
  createRedirectReceiver,
} from "../../../lib/browser/mod.ts";
import { diagnose, diagnoseClientMetadata } from "../../../lib/doctor/mod.ts";
import { createTestServers } from "../../../lib/testing/mod.ts";
import { createWebSignIn } from "../../../lib/web/mod.ts";
import { API, AS, assertRejectsCode, MCP } from "../../support/fixtures.ts";
import { PRIVATE_JWK } from "../../support/keys.ts";
import { pinMessage } from "../../support/pin_message.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { KEY, ORIGIN } from "../web/_world.ts";

const SITE = {
  origin: ORIGIN,
  client: { issuer: AS, client_id: "site" },
  storeOf: () => memoryStore(),
  cookieKeys: [KEY],
};

/** A client of Redis, of Deno KV and of a Durable Object, which nothing calls. */
const none = untyped(new Proxy({}, { get: () => () => {} }));

const unreachable = () => Promise.reject(new TypeError("fetch failed"));

const CALLS: [
  name: string,
  call: (options: object) => unknown,
  right: object,
  wrong: object,
][] = [
  [
    "createWebSignIn",
    (options) => createWebSignIn(MCP, { ...SITE, ...options }),
    { scopes: ["read"], skewSeconds: 60 },
    { scope: "read" },
  ],
  [
    "createWebSignIn",
    (options) => createWebSignIn(MCP, { ...SITE, ...options }),
    { lifetimeSeconds: 60 },
    { store: memoryStore() },
  ],
  [
    `apis["${API}"]`,
    (options) => sharedSignIn({ [API]: options }),
    { scopes: ["read"] },
    { scope: "read" },
  ],
  [
    "redisStore",
    (options) => redisStore(none, "key", options),
    { lifetimeSeconds: 60 },
    { lifetime: 60 },
  ],
  [
    "denoKvStore",
    (options) => denoKvStore(none, ["key"], options),
    { lifetimeSeconds: 60 },
    { ttl: 60 },
  ],
  [
    "durableObjectStore",
    (options) => durableObjectStore(untyped({ storage: {} }), options),
    { lifetimeSeconds: 60 },
    { lifetime: 60 },
  ],
  [
    "webStorageStore",
    (options) => webStorageStore(none, "key", options),
    { locks: false },
    { lock: false },
  ],
  [
    "perCaller",
    (options) => perCaller(() => 1, options),
    { maxCallers: 1 },
    { max: 1 },
  ],
  [
    "privateKeyJwt",
    (options) => privateKeyJwt("c1", PRIVATE_JWK, { issuer: AS, ...options }),
    { keyId: "k1" },
    { kid: "k1" },
  ],
  [
    "createDpop",
    (options) => createDpop(options),
    { now: Date.now },
    { key: 1 },
  ],
  [
    "createPopupReceiver",
    (options) => createPopupReceiver({ redirectUri: ORIGIN, ...options }),
    { timeoutMs: 60, features: "popup" },
    { timeout: 60 },
  ],
  [
    "createRedirectReceiver",
    (options) => createRedirectReceiver({ redirectUri: ORIGIN, ...options }),
    { storage: none },
    { store: none },
  ],
  [
    "diagnose",
    (options) => diagnose(MCP, { fetch: unreachable, ...options }),
    { timeoutMs: 60 },
    { skewSeconds: 60 },
  ],
  [
    "diagnose",
    (options) => diagnose(MCP, { fetch: unreachable, ...options }),
    { userAgent: "a" },
    { user: "a" },
  ],
  [
    "diagnoseClientMetadata",
    (options) =>
      diagnoseClientMetadata(MCP, { fetch: unreachable, ...options }),
    { target: MCP },
    { browser: true },
  ],
  [
    "test servers",
    (options) => createTestServers(options),
    { lifetimeSeconds: 60 },
    { lifetimeSecond: 60 },
  ],
];

for (const [of, call, right, wrong] of CALLS) {
  const [name] = Object.keys(wrong);
  Deno.test(`${of} rejects ${name}, which is not one of its options`, async () => {
    await call({ ...right, [name!]: undefined });
    const refused = async () => await call(wrong);
    const { message } = await assertRejectsCode(refused, "invalid_argument");
    // A list of all options changes with each of them.
    pinMessage(message.replace(/(, \w+){4,}/, ", …"));
  });
}
