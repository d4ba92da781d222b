/** What a server folder declares, and what the driver needs to know of it. */
import type {
  AuthorizedFetchOptions,
  CodeFlowOptions,
  OAuthClientErrorCode,
} from "../../mod.ts";
import type { DiagnosisVerdict } from "../../lib/doctor/mod.ts";

/** The steps in the order of the table; `restart` comes last, as it forgets everything. */
export const STEPS = {
  challenge: "a call receives a 401 and becomes a 200, with one sign-in",
  authorize: "signIn() first, then a call",
  offline: "a refresh token, after the second sign-in at the latest",
  expiry: "eight calls at the expiry make one refresh",
  apis:
    "two APIs share a sign-in: four rounds of 20 calls over expiries need one sign-in and eight tokens, and use no refresh token twice",
  put_off:
    "a gateway responds to a refresh with 429 and Retry-After: the token is used while it is valid, and no request is made before that time",
  dead: "refused access token, dead refresh token: one sign-in, no more scopes",
  lost: "expired access token, dead refresh token: the same",
  step_up: "a 403 that requires a scope leads to a 200",
  sign_out: "revoke() resolves, and revokes where the server can",
  leave:
    "the user closes the tab: three more calls ask nothing, signIn() signs in",
  refuse: "the user refuses: access_denied, and no second question",
  device: "device flow",
  ciba:
    "backchannel authentication: two questions for a step-up, one for a refusal",
  credentials: "client credentials with the secret of `SERVICE`",
  dpop: "the token is bound to a key",
  par: "the authorization request is pushed",
  private_key_jwt: "the client signs assertions",
  advice: "without the option that this server needs, the error names it",
  doctor:
    "the doctor, given no options, names those that the sign-in needed, and signs in with them",
  deleted: "operator deletes the client: the second sign-in succeeds",
  restart: "server forgets everything: the second sign-in succeeds",
} as const;

export type Step = keyof typeof STEPS;

/** Played everywhere, unless a server lacks it. */
const USUAL: readonly Step[] = [
  "challenge",
  "authorize",
  "offline",
  "expiry",
  "put_off",
  "dead",
  "lost",
  "sign_out",
  "leave",
  "doctor",
  "restart",
];

/** The user's browser does not request this URL. */
export const REDIRECT_URI = "http://127.0.0.1:33418/callback";

/** The client metadata document, which servers of `documents` are given. */
export const CLIENT_URL = "https://client.example/interop.json";

/** The client of `credentials` and `ciba`, which such a server knows. */
export const SERVICE = { client_id: "service", client_secret: "s3cret/+ %" };

/** Where a server runs, and what it was started with. */
export interface Place {
  /** URL of the resource, as the server has printed it. */
  readonly resource: string;
  /** `http://127.0.0.1:<UPSTREAM_PORT>`, for servers behind others. */
  readonly upstream: string;
  /** The key whose public JWK the server received as `CLIENT_JWK`. */
  readonly key: CryptoKey;
}

/** Options of the library that a server needs beside the plain ones. */
export interface ClientOptions {
  flow?: Partial<CodeFlowOptions>;
  fetch?: Partial<AuthorizedFetchOptions>;
}

/** One configuration of a server: the default export of `about.ts` is a list of them. */
export interface Server {
  /** Unique; the row of the table. */
  readonly name: string;
  /** Packages of npm with exact versions. The first one is the server. */
  readonly packages?: Readonly<Record<string, string>>;
  /** Packages of Debian, without which it is left out. The first one is the server. */
  readonly debian?: readonly string[];
  /** What the table shows. @default {the version of the first package} */
  readonly version?: string;
  /**
   * Starts the server, in a copy of the folder beside one of `_shared`. `node` runs with
   * the packages. The variables PORT, UPSTREAM_PORT, REDIRECT_URI, CLIENT_URL, CLIENT_JWK,
   * and the user's EMAIL and PASSWORD are set. It prints the URL of the resource when it
   * listens.
   */
  readonly command: readonly string[];
  /** The version of Node, where the one on the path is too old. */
  readonly node?: string;
  /** Whether it installs and starts fast enough for the gate. */
  readonly isLight?: boolean;
  /** Options without which no client can sign in. */
  readonly options?: (
    place: Place,
  ) => ClientOptions | Promise<ClientOptions>;
  /** The options without the one that `advice` is about. @default {none} */
  readonly bare?: (place: Place) => ClientOptions;
  /** What the error with `bare` has to contain, for `advice`. */
  readonly advice?: RegExp;
  /** The names of the `options` that a sign-in alone shows to be needed. */
  readonly unseen?: readonly string[];
  /** What the doctor says of a path that does not exist. @default {"broken"} */
  readonly verdictAtWrongPath?: DiagnosisVerdict;
  /** The path that requires another scope, for `step_up`. */
  readonly stepUpPath?: string;
  /** The path of another resource of the same server, for `apis`. */
  readonly otherPath?: string;
  /** Codes of the error after `refuse`, if not those of RFC 6749. */
  readonly refusal?: { code: OAuthClientErrorCode; error?: string };
  /** Steps beyond the usual ones. */
  readonly plays?: readonly Step[];
  /** Usual steps that this server cannot play. */
  readonly lacks?: readonly Step[];
  /** Steps that fail today, with the row of the road map that is about it. */
  readonly fails?: Readonly<Partial<Record<Step, string>>>;
}

export function stepsOf({ plays = [], lacks = [] }: Server): Step[] {
  return (Object.keys(STEPS) as Step[]).filter((step) =>
    plays.includes(step) || (USUAL.includes(step) && !lacks.includes(step))
  );
}
