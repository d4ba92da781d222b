/** The demo as a list of steps, and what each step passes to the next. */
import type {
  IAuthenticationChallenge,
  IAuthorizationJWTClaims,
  IAuthorizationServerMetadata,
  IClientAuthentication,
  IDeviceAuthorization,
  IToken,
} from "../../mod.ts";
import { type IOutput, listFailures } from "./output.ts";

const REQUEST_LIMIT_MS = 10_000;

/** What is known so far. Each step reads what it needs and adds its results. */
export interface IProgress {
  /** The URL of the protected resource. */
  readonly target: string;
  /** A client that is registered at the authorization server. */
  readonly machine?: { readonly id: string; readonly secret: string };
  /** The `WWW-Authenticate` header of the first response. */
  header?: string | undefined;
  challenge?: IAuthenticationChallenge | undefined;
  /** The scopes that the resource requires. */
  scopes: string[];
  /** The issuer that the resource named. */
  issuer?: string | undefined;
  server?: IAuthorizationServerMetadata;
  /** The resource indicator (RFC 8707). */
  resource?: string;
  /** The registered client. */
  client?: IClientAuthentication;
  /** The newest token. */
  token?: IToken;
  claims?: IAuthorizationJWTClaims;
  device?: IDeviceAuthorization;
  /** What the code flow needs for the token request. */
  grant?: { code: string; codeVerifier: string };
}

/** The result of a step. A step may also throw. */
export interface IResult {
  result: string;
  status?: number;
  /** Default true. */
  ok?: boolean;
  /** Further results by name. */
  details?: Record<string, string>;
  /** Failures before the success. */
  failures?: Error[];
}

/** One step of the demo. */
export interface IStep {
  /** Its name in the output of `--json`. */
  name: string;
  /** The result that counts as success, printed with any other. */
  expected: string;
  /** Whether the next step can run without a success of this one. */
  optional?: boolean;
  action(progress: IProgress): string;
  run(progress: IProgress): IResult | Promise<IResult>;
}

/** Returns what an earlier step found; throws if it is missing. */
export function need<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`No earlier step found ${what}`);
  return value;
}

/** Fetches what the demo requests itself, with a timeout and without redirects. */
export async function limitedFetch(
  url: string,
  init: RequestInit = {},
): Promise<Response> {
  // Deno's fetch also reads files, and a challenge may contain any URL.
  if (!/^https?:\/\//i.test(url)) {
    throw new Error(`No request to ${url}: expected an http or https URL`);
  }
  const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
  try {
    return await fetch(url, { ...init, redirect: "manual", signal });
  } catch (failure) {
    const { message, cause } = failure as Error;
    const reason = signal.aborted
      ? `timeout after ${REQUEST_LIMIT_MS / 1000} s`
      // Deno's reason is in the cause, after the URL.
      : (cause instanceof Error ? cause.message : message)
        .replace(/^.*\): /, "");
    throw new Error(`${url}: no response, ${reason}`, { cause: failure });
  }
}

/** Runs the steps until one fails that is not optional; true if all succeeded. */
export async function runSteps(
  steps: readonly IStep[],
  progress: IProgress,
  output: IOutput,
): Promise<boolean> {
  let allOk = true;
  for (const { name, expected, optional = false, action, run } of steps) {
    const start = performance.now();
    const request = action(progress);
    let found: IResult;
    try {
      found = await run(progress);
    } catch (failure) {
      const failures = listFailures(failure);
      const result = failures.length > 1
        ? `failed ${failures.length} times`
        : "failed";
      found = { result, ok: false, failures };
    }
    const { ok = true } = found;
    const ms = performance.now() - start;
    output.step({ step: name, action: request, expected, ...found, ms, ok });
    allOk &&= ok;
    if (!ok && !optional) break;
  }
  return allOk;
}
