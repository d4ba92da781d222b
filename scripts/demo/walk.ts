/** The road as a list of steps, and what is handed on from step to step. */
import type {
  ClientAuthentication,
  IAuthenticationChallenge,
  IAuthorizationJWTClaims,
  IAuthorizationServerMetadata,
  IDeviceAuthorization,
  IToken,
} from "../../mod.ts";
import { type IOutput, listFailures } from "./output.ts";

const REQUEST_LIMIT_MS = 10_000;

/** What is known so far. Each step reads what it needs and adds what it found. */
export interface IWalk {
  /** The address of the protected resource, where the road begins. */
  readonly target: string;
  /** A client that the authorization server knows beforehand. */
  readonly machine?: { readonly id: string; readonly secret: string };
  /** The `WWW-Authenticate` header of the first reply. */
  header?: string | undefined;
  challenge?: IAuthenticationChallenge | undefined;
  /** The scopes that the resource asks for. */
  scopes: string[];
  /** The authorization server that the resource named. */
  issuer?: string | undefined;
  server?: IAuthorizationServerMetadata;
  /** What the resource calls itself, for requests to its server. */
  resource?: string;
  /** The client that has registered itself. */
  client?: ClientAuthentication;
  /** The newest token. */
  token?: IToken;
  claims?: IAuthorizationJWTClaims;
  device?: IDeviceAuthorization;
  /** What the code flow needs after the user has come back. */
  grant?: { code: string; codeVerifier: string };
}

/** What came back. A step that fails outright throws instead. */
export interface IAnswer {
  answer: string;
  status?: number;
  /** Default true. */
  ok?: boolean;
  /** More of it by name. */
  details?: Record<string, string>;
  /** What went wrong before it worked. */
  failures?: Error[];
}

/** One step of the road. */
export interface IStep {
  /** Its name in the output of `--json`. */
  name: string;
  /** What a good answer is, to be told when there is another. */
  expected: string;
  /** Whether the road can go on without a good answer. */
  optional?: boolean;
  asked(walk: IWalk): string;
  run(walk: IWalk): IAnswer | Promise<IAnswer>;
}

/** What an earlier step has found; a step cannot do without it. */
export function need<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`No earlier step brought ${what}`);
  return value;
}

/**
 * `fetch` for what the demo asks beside the library, as guarded as the library's
 * own requests are.
 */
export async function limitedFetch(
  url: string,
  init: RequestInit = {},
): Promise<Response> {
  // Deno's fetch also reads files, and a challenge may name any address.
  if (!/^https?:\/\//i.test(url)) {
    throw new Error(`${url} is not asked: it is no http or https address`);
  }
  const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
  try {
    return await fetch(url, { ...init, redirect: "manual", signal });
  } catch (failure) {
    const { message, cause } = failure as Error;
    const reason = signal.aborted
      ? `silent for ${REQUEST_LIMIT_MS / 1000} s`
      // Deno tells the reason in the cause, behind the address.
      : (cause instanceof Error ? cause.message : message)
        .replace(/^.*\): /, "");
    throw new Error(`${url}: no answer, ${reason}`, { cause: failure });
  }
}

/** Goes as far as the steps lead; whether that was to the end of the list. */
export async function walkSteps(
  steps: readonly IStep[],
  walk: IWalk,
  output: IOutput,
): Promise<boolean> {
  let allOk = true;
  for (const { name, expected, optional = false, asked, run } of steps) {
    const start = performance.now();
    const question = asked(walk);
    let found: IAnswer;
    try {
      found = await run(walk);
    } catch (failure) {
      const failures = listFailures(failure);
      const answer = failures.length > 1
        ? `failed ${failures.length} times`
        : "failed";
      found = { answer, ok: false, failures };
    }
    const { ok = true } = found;
    const ms = performance.now() - start;
    output.step({ step: name, asked: question, expected, ...found, ms, ok });
    allOk &&= ok;
    if (!ok && !optional) break;
  }
  return allOk;
}
