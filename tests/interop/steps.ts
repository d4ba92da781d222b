/** What the driver plays at a server; each step throws if it does not hold. */
import {
  adviceFor,
  cibaFlow,
  clientCredentialsFlow,
  clientSecretBasic,
  deviceFlow,
  discoverAuthorization,
  isOAuthClientError,
  OAuthClientError,
  type OAuthClientErrorCode,
} from "../../mod.ts";
import { diagnose } from "../../lib/doctor/mod.ts";
import {
  createProgram,
  type Disk,
  type Program,
  type ProgramOptions,
} from "./program.ts";
import type { Running } from "./running.ts";
import {
  type ClientOptions,
  REDIRECT_URI,
  type Server,
  SERVICE,
  type Step,
} from "./server.ts";
import { createUser } from "./user.ts";

/** A server that runs, and the options that it needs. */
export interface Stage {
  readonly server: Server;
  readonly running: Running;
  readonly options: ClientOptions;
  /** Whether a user has signed in by a challenge; undefined if not yet tried. */
  hasSignedIn?: boolean;
}

function expect(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

function program(
  { running: { resource }, options }: Stage,
  given: Omit<ProgramOptions, "resource"> = {},
): Program {
  return createProgram({ resource, options, ...given });
}

async function failureOf(one: Program) {
  const error = await one.call().then(() => undefined, (error) => error);
  expect(error, "the call succeeded");
  return error;
}

/** Throws an error of another code again. */
function expectCode(error: unknown, code: OAuthClientErrorCode) {
  if (!isOAuthClientError(error) || error.code !== code) throw error;
}

/** Fails unless the user has signed in this often. */
function expectSignIns({ visits: { length } }: Program, count: number) {
  expect(length === count, `${length} sign-ins`);
}

function grants({ exchanges }: Program, type: string) {
  return exchanges.filter(({ form }) => form.get("grant_type") === type);
}

/** Calls the resource as a new user would; returns the program after that. */
async function signIn(stage: Stage, disk: Disk = {}): Promise<Program> {
  const first = program(stage, { disk });
  await first.call();
  expectSignIns(first, 1);
  return first;
}

function spoil(token: string): string {
  const middle = token.length >> 1;
  const wrong = token[middle] === "x" ? "yyyy" : "xxxx";
  return token.slice(0, middle) + wrong + token.slice(middle + 4);
}

function spoilTokens({ session }: Disk, ...names: string[]): void {
  for (const name of names) {
    const token = session?.token?.[name];
    if (session && typeof token === "string") {
      session.token![name] = spoil(token);
    }
  }
}

/** Signs in; a second time if the first one brought no refresh token. */
async function signInToStay(stage: Stage, disk: Disk): Promise<Program> {
  let current = await signIn(stage, disk);
  if (!disk.session?.token?.refresh_token) {
    spoilTokens(disk, "access_token");
    current = program(stage, { disk });
    await current.call();
  }
  expect(
    disk.session?.token?.refresh_token,
    "no refresh token after two sign-ins",
  );
  return current;
}

/** Calls with a session that the server has lost: the second sign-in succeeds. */
async function recover(stage: Stage, disk: Disk): Promise<void> {
  let failure: unknown;
  for (let tries = 0; tries < 2; tries++) {
    const again = program(stage, { disk });
    try {
      return void await again.call();
    } catch (error) {
      failure = error;
      // A user who is stuck ends the program.
      again.end();
    }
  }
  throw failure;
}

/** The scopes of the authorization requests, wherever they were sent. */
function requestedScopes({ visits, exchanges }: Program): string[] {
  const pushed = exchanges.map(({ form }) => form)
    .filter((form) => form.get("response_type"));
  return [...visits.map(({ searchParams }) => searchParams), ...pushed]
    .flatMap((params) => params.get("scope")?.split(" ") ?? []);
}

/** Fails unless a user whose tokens are dead signs in once, for the same scopes. */
async function loseTokens(stage: Stage, members = {}): Promise<void> {
  const disk: Disk = {};
  const before = requestedScopes(await signIn(stage, disk));
  spoilTokens(disk, "access_token", "refresh_token");
  Object.assign(disk.session?.token ?? {}, members);
  const again = program(stage, { disk });
  await again.call();
  expectSignIns(again, 1);
  const more = requestedScopes(again)
    .filter((scope) => ![...before, "offline_access"].includes(scope));
  expect(more.length === 0, `more scopes requested: ${more.join(" ")}`);
}

/** The options with which a user signs in, as far as they can be seen before. */
function neededOptions({ options, server }: Stage): string[] {
  const { unseen = [] } = server;
  const names = [options.flow, options.fetch].flatMap((some) =>
    Object.keys(some ?? {})
  ).map((name) => name === "knownClients" ? "client" : name);
  return names.filter((name) => !unseen.includes(name)).sort();
}

/** Fails unless a request of the sign-in matches. */
async function expectRequest(
  stage: Stage,
  what: string,
  matches: (exchange: Program["exchanges"][number]) => unknown,
): Promise<Disk> {
  const disk: Disk = {};
  const { exchanges } = await signIn(stage, disk);
  expect(exchanges.some(matches), `no request with ${what}`);
  return disk;
}

/** Signs in by the doctor, with the same options; fails unless that ends the same. */
async function diagnoseToTheEnd(stage: Stage): Promise<void> {
  const { running: { resource }, options: { flow, fetch } } = stage;
  const user = createUser();
  const { signIn, summary } = await diagnose(resource, {
    allowHttp: fetch?.allowHttp,
    authorizationServer: fetch?.authorizationServer,
    trustedIssuers: fetch?.trustedIssuers,
    assumePkce: flow?.assumePkce,
    offlineAccess: flow?.offlineAccess,
    signIn: {
      client: fetch?.client ?? flow?.client ?? flow?.knownClients?.[0],
      clientMetadataUrl: flow?.clientMetadataUrl,
      scopes: flow?.scopes,
      parameters: flow?.parameters,
      resourceIndicator: flow?.resourceIndicator,
      redirectUri: REDIRECT_URI,
      async visit(url) {
        const ending = await user.visit(url, REDIRECT_URI);
        if ("left" in ending) return ending.left;
        throw new OAuthClientError("timeout", "The user is left with a page");
      },
    },
  });
  const isAccepted = signIn?.token !== undefined &&
    (signIn.callStatus ?? 500) < 500 &&
    ![401, 403].includes(signIn.callStatus ?? 0);
  expect(
    isAccepted === stage.hasSignedIn,
    `the doctor ${isAccepted ? "has" : "has not"} signed in: ${summary}`,
  );
}

async function createServiceClient({ running: { resource }, options }: Stage) {
  const challenge = await fetch(resource, { method: "POST" });
  await challenge.body?.cancel();
  const { issuer } = await discoverAuthorization(resource, {
    challenge,
    ...options.fetch,
  });
  const { client_id, client_secret } = SERVICE;
  return clientSecretBasic(client_id, client_secret, { issuer });
}

export const PLAY: Readonly<Record<Step, (stage: Stage) => Promise<unknown>>> =
  {
    async challenge(stage) {
      stage.hasSignedIn = false;
      const { exchanges: [first] } = await signIn(stage);
      expect(
        first?.status === 401,
        `the first call ended with ${first?.status}`,
      );
      stage.hasSignedIn = true;
    },

    async authorize(stage) {
      const early = program(stage);
      await early.run(early.api.signIn());
      await early.call();
      expectSignIns(early, 1);
    },

    async offline(stage) {
      await signInToStay(stage, {});
    },

    async expiry(stage) {
      const disk: Disk = {};
      await signInToStay(stage, disk);
      if (disk.session) disk.session.token!.expires_at = 0;
      const later = program(stage, { disk });
      await Promise.all(Array.from({ length: 8 }, () => later.call()));
      // A server may require a nonce first.
      const count = grants(later, "refresh_token")
        .filter(({ status = 0 }) => status < 300).length;
      expect(count === 1, `${count} refreshes`);
      expectSignIns(later, 0);
      const { expires_at } = disk.session?.token ?? {};
      expect(expires_at !== 0, "the refreshed token was not stored");
    },

    async apis(stage) {
      const { resource } = stage.running;
      const other = new URL(stage.server.otherPath ?? "", resource).href;
      let now = Date.now();
      const both = program(stage, { other, now: () => now });
      for (let round = 0; round < 4; round++) {
        await Promise.all(
          Array.from({ length: 10 }, () => [both.call(), both.callOther()])
            .flat(),
        );
        const { token } = await both.api.session() ?? {};
        now += (token?.expires_in ?? 0) * 1000;
      }
      expectSignIns(both, 1);
      const refreshes = grants(both, "refresh_token");
      const used = refreshes.map(({ form }) => form.get("refresh_token"));
      const repeated = used.length - new Set(used).size;
      expect(repeated === 0, `${repeated} refresh tokens were used twice`);
      const codes = grants(both, "authorization_code");
      const all =
        [...codes, ...refreshes].filter(({ status }) => status === 200).length;
      expect(all === 8, `${all} tokens`);
    },

    async put_off(stage) {
      const disk: Disk = {};
      await signInToStay(stage, disk);
      // What reaches the server at the end has the time of its clock.
      const present = Date.now();
      let now = present - 300_000;
      const headers = { "Retry-After": "300" };
      const later = program(stage, {
        disk,
        now: () => now,
        gateway: ({ form }) =>
          now < present && form.get("grant_type") === "refresh_token"
            ? new Response(null, { status: 429, headers })
            : undefined,
      });
      if (disk.session) disk.session.token!.expires_at = now / 1000 + 5;
      await later.call();
      await later.call();
      now += 60_000;
      for (let calls = 0; calls < 3; calls++) {
        const error = await failureOf(later);
        const isPutOff = isOAuthClientError(error) && error.status === 429 &&
          error.retryAfterSeconds === 240;
        if (!isPutOff) throw error;
      }
      const { length } = grants(later, "refresh_token");
      expect(length === 1, `${length} refreshes before the time`);
      now = present;
      await later.call();
      const statuses = grants(later, "refresh_token").map(({ status }) =>
        status
      );
      expect(statuses.at(-1) === 200, `refreshes: ${statuses.join(" ")}`);
      expectSignIns(later, 0);
    },

    async dead(stage) {
      await loseTokens(stage);
    },

    async lost(stage) {
      await loseTokens(stage, { expires_at: 0 });
    },

    async step_up(stage) {
      const current = await signIn(stage);
      await current.call(stage.server.stepUpPath);
      expectSignIns(current, 2);
    },

    async sign_out(stage) {
      const disk: Disk = {};
      const current = await signIn(stage, disk);
      const endpoint = disk.session?.server.revocation_endpoint;
      await current.api.revoke();
      expect(!disk.session, "there still is a session");
      // What comes back is the server's affair: that of @hono/mcp is always a 500.
      const isTold = current.exchanges.some(({ url }) => url.href === endpoint);
      expect(!endpoint || isTold, "no token was revoked");
      await current.call();
      expectSignIns(current, 2);
    },

    async leave(stage) {
      const { running: { resource } } = stage;
      const left = program(stage, { user: createUser({ closesFirst: true }) });
      expectCode(await failureOf(left), "timeout");
      const others = () =>
        left.exchanges.filter(({ url }) => url.href !== resource);
      const { length } = others();
      for (let calls = 0; calls < 3; calls++) {
        expectCode(await failureOf(left), "sign_in_required");
      }
      expectSignIns(left, 1);
      const more = others().length - length;
      expect(more === 0, `${more} requests without a wish of the user`);
      await left.run(left.api.signIn());
      await left.call();
      expectSignIns(left, 2);
      const registrations = others().filter(({ headers }) =>
        headers.get("Content-Type")?.startsWith("application/json")
      );
      // One for each sign-in: a client is kept with the session of its user.
      expect(
        registrations.length <= 2,
        `${registrations.length} registrations`,
      );
    },

    async refuse(stage) {
      const refusing = program(stage, { user: createUser({ refuses: true }) });
      const error = await failureOf(refusing);
      const { code = "oauth_error", error: name = "access_denied" } =
        stage.server.refusal ?? {};
      const isRefusal = isOAuthClientError(error) && error.code === code &&
        error.error === name && adviceFor(error).action === "ask_user";
      if (!isRefusal) throw error;
      expectSignIns(refusing, 1);
    },

    async device(stage) {
      let enter = () => Promise.resolve();
      let waits = 0;
      const flow = deviceFlow({
        clientMetadata: { client_name: "Interop" },
        // The user enters the code after the first poll.
        delay: () => ++waits === 2 ? enter() : Promise.resolve(),
        show({ verification_uri, verification_uri_complete, user_code }) {
          const user = createUser({ userCode: user_code });
          const page = verification_uri_complete ?? verification_uri;
          enter = async () => void await user.visit(page);
        },
      });
      const current = program(stage, { authorize: flow });
      await current.call();
      const polls = grants(
        current,
        "urn:ietf:params:oauth:grant-type:device_code",
      ).map(({ status }) => status).join(" ");
      expect(polls === "400 200", `polls: ${polls}`);
    },

    async ciba(stage) {
      const client = await createServiceClient(stage);
      const asked: string[][] = [];
      const flowFor = (loginHint: string) =>
        cibaFlow({
          client,
          getLoginHint({ newScopes }) {
            asked.push(newScopes);
            return { loginHint, bindingMessage: "Interop-1" };
          },
          delay: () => new Promise((resolve) => setTimeout(resolve, 50)),
        });
      const agent = program(stage, { authorize: flowFor("consents") });
      await agent.call();
      const polls = grants(agent, "urn:openid:params:grant-type:ciba");
      expect(polls.some(({ status }) => status === 400), "no poll was pending");
      await agent.call(stage.server.stepUpPath);
      const [first, second, ...more] = asked.splice(0);
      const isOnce = first && more.length === 0;
      expect(isOnce, "not one question each for the sign-in and the step-up");
      expect(second?.join() === "mcp:write", `new scopes: ${second}`);

      const refused = program(stage, { authorize: flowFor("refuses") });
      const { error } = await failureOf(refused);
      expect(error === "access_denied", `the error is ${error}`);
      const { code } = await failureOf(refused);
      expect(code === "sign_in_required", `the second call: ${code}`);
      expect(asked.length === 1, `${asked.length} questions`);
    },

    async credentials(stage) {
      const client = await createServiceClient(stage);
      const service = program(stage, {
        authorize: clientCredentialsFlow({ client }),
      });
      await service.call();
      const count = grants(service, "client_credentials").length;
      expect(count > 0, "no request with the client credentials");
      const { token } = await service.api.session() ?? {};
      expect(!token?.refresh_token, "a refresh token without a user");
    },

    async dpop(stage) {
      const disk = await expectRequest(
        stage,
        "DPoP and a nonce",
        ({ headers }) => {
          const proof = headers.get("DPoP")?.split(".")[1];
          return proof &&
            "nonce" in
              JSON.parse(atob(proof.replace(/-/g, "+").replace(/_/g, "/")));
        },
      );
      const type = disk.session?.token?.token_type;
      expect(/^dpop$/i.test(type ?? ""), `token_type is ${type}`);
      const later = program(stage, { disk });
      await later.call("?a=b");
      const { length } = later.exchanges;
      expect(length === 1, "the nonce of the last response was not used");
    },

    async par(stage) {
      await expectRequest(
        stage,
        "PAR",
        ({ form, status }) => form.has("code_challenge") && status === 201,
      );
    },

    async private_key_jwt(stage) {
      await expectRequest(
        stage,
        "an assertion",
        ({ form, status }) => form.has("client_assertion") && status === 200,
      );
    },

    async advice(stage) {
      const { advice = /$^/, bare } = stage.server;
      const options = bare?.(stage.running) ?? {};
      const lacking = program({ ...stage, options });
      const error = await failureOf(lacking);
      if (!advice.test(error.message)) throw error;
    },

    async doctor(stage) {
      if (stage.hasSignedIn === undefined) {
        await PLAY.challenge(stage).catch(() => {});
      }
      const { resource } = stage.running;
      const { verdict, options = [], summary } = await diagnose(resource);
      const named = options.map(({ name }) => name).sort().join(" ");
      const needed = neededOptions(stage).join(" ");
      const continues = needed === ""
        ? "ready"
        : needed === "client"
        ? "needs_client"
        : "needs_option";
      const expected = stage.hasSignedIn ? continues : "broken";
      expect(
        verdict === expected && named === needed,
        `${verdict} (${named}), expected ${expected} (${needed}): ${summary}`,
      );
      await diagnoseToTheEnd(stage);
      const lost = await diagnose(new URL("/no/such/path", resource));
      const { verdictAtWrongPath = "broken" } = stage.server;
      expect(
        lost.verdict === verdictAtWrongPath,
        `${lost.verdict} at a wrong path`,
      );
    },

    async deleted(stage) {
      const disk: Disk = {};
      await signIn(stage, disk);
      const id = disk.session?.client?.client_id ?? "";
      const url = new URL(
        `/operator/clients?id=${encodeURIComponent(id)}`,
        stage.running.resource,
      );
      const { ok, status } = await fetch(url, { method: "DELETE" });
      expect(ok, `the operator cannot delete a client: ${status}`);
      spoilTokens(disk, "access_token");
      await recover(stage, disk);
    },

    async restart(stage) {
      const disk: Disk = {};
      await signIn(stage, disk);
      await stage.running.restart();
      await recover(stage, disk);
    },
  };
