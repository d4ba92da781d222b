/** The examples for services that publish no metadata, with the services imitated. */

import { base64url, decodeJwt } from "jose";
import { assertEquals, assertMatch } from "@std/assert";
import type { Service } from "../servers/apis/_hosts.ts";
import {
  COGNITO_API,
  COGNITO_CLIENT,
  COGNITO_POOL,
  startCognito,
} from "../servers/apis/cognito.ts";
import { ENTRA_APP, ENTRA_TENANT, startEntra } from "../servers/apis/entra.ts";
import { GITHUB_APP, startGitHub } from "../servers/apis/github.ts";
import {
  GMAIL,
  GOOGLE_DESKTOP_CLIENT,
  startGoogle,
} from "../servers/apis/google.ts";
import { createDesk, type Desk } from "./_programs.ts";

const PROFILE = `${GMAIL}/gmail/v1/users/me/profile`;

/** Each program, its service, its environment, and what it is called with later. */
const EXAMPLES: [
  name: string,
  start: () => Promise<Service>,
  env: Record<string, string>,
  later?: string,
][] = [
  ["github", startGitHub, {
    ...{ ID: GITHUB_APP.id, SECRET: GITHUB_APP.secret },
    REPOSITORY: "octocat/private",
  }],
  ["google", startGoogle, {
    ID: GOOGLE_DESKTOP_CLIENT.id,
    SECRET: GOOGLE_DESKTOP_CLIENT.secret,
  }, PROFILE],
  ["entra", startEntra, { ID: ENTRA_APP.id, TENANT: ENTRA_TENANT }],
  ["cognito", startCognito, {
    ...{ ID: COGNITO_CLIENT.id, SECRET: COGNITO_CLIENT.secret },
    ...{ POOL: COGNITO_POOL, API: `${COGNITO_API}/prod` },
  }],
];

/** Replaces the expiry of the tokens that a program has kept. */
async function expire({ sessionFile }: Desk): Promise<void> {
  const session = JSON.parse(await Deno.readTextFile(sessionFile));
  const { token } = session;
  token.expires_at = 1;
  if (token.id_token) {
    const claims = { ...decodeJwt(token.id_token), exp: 1 };
    const payload = new TextEncoder().encode(JSON.stringify(claims));
    const [header, , signature] = token.id_token.split(".");
    token.id_token = [header, base64url.encode(payload), signature].join(".");
  }
  await Deno.writeTextFile(sessionFile, JSON.stringify(session));
}

for (const [name, start, env, later] of EXAMPLES) {
  Deno.test(`apis/${name}.ts signs in once, and refreshes what it keeps`, async () => {
    await using service = await start();
    await using desk = await createDesk({ env, sockets: service.sockets });
    const run = async (url?: string) => {
      service.take();
      const args = url === undefined ? [] : [url];
      const output = await desk.start(`apis/${name}.ts`, ...args).output();
      assertMatch(output, /^200 /);
      return service.take();
    };
    await run();
    assertEquals(service.visits.length, 1);
    assertEquals((await run(later)).length, 1);
    await expire(desk);
    const [token, call, ...others] = await run();
    assertMatch(token ?? "", /^POST .*token$/);
    assertMatch(call ?? "", /^GET /);
    assertEquals([others, service.visits.length], [[], 1]);
  });
}
