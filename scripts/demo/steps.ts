/** The demo as a list of steps, and what each step passes to the next. */
import type {
  IAuthorizationServerMetadata,
  IAuthorizedFetch,
  ICodeFlowOptions,
  IDeviceAuthorization,
  IKnownClient,
  IToken,
} from "../../mod.ts";
import type { IOutput } from "./output.ts";

/** Who signs in: the browser of the tests, or a person with theirs. */
export type IReceiver = Pick<ICodeFlowOptions, "redirectUri" | "visit">;

/** A request of a step. Requests of the user's browser are not recorded. */
export interface IRecordedRequest {
  method: string;
  url: string;
  status: number;
  grant_type?: string;
}

/** What is known so far. Each step reads what it needs and adds its results. */
export interface IProgress {
  /** The URL of the protected resource. */
  readonly target: string;
  /** A client that is registered at the authorization server. */
  readonly machine: { readonly id: string; readonly secret: string };
  /** Makes a request and records it. */
  readonly fetch: typeof fetch;
  /** Sends the user of `api` to the authorization server. */
  readonly receiver: IReceiver;
  /** The requests of the current step. */
  readonly requests: IRecordedRequest[];
  /** The `WWW-Authenticate` header field of the first response. */
  header?: string;
  issuer?: string;
  server?: IAuthorizationServerMetadata;
  /** The resource indicator (RFC 8707). */
  resource?: string;
  /** The scopes that the resource requires. */
  scopes?: string[];
  /** The registered client. */
  client?: IKnownClient;
  /** The newest token. */
  token?: IToken;
  device?: IDeviceAuthorization;
  /** What the code flow needs for the token request. */
  grant?: { code: string; codeVerifier: string };
  api?: IAuthorizedFetch;
  /** How far the clock of `api` is ahead. */
  aheadMs: number;
}

/** The result of a step. A step may also throw. */
export interface IResult {
  result: string;
  /** @default true */
  ok?: boolean;
  /** Further results by name. */
  details?: Record<string, string>;
}

/** One step of the demo. */
export interface IStep {
  /** Its name in the output of `--json`. */
  name: string;
  action: string;
  /** The result that counts as success, printed with any other. */
  expected: string;
  run(progress: IProgress): IResult | Promise<IResult>;
}

/** Creates the progress of the first step. */
export function createProgress(
  known: Pick<IProgress, "target" | "machine" | "receiver">,
): IProgress {
  const requests: IRecordedRequest[] = [];
  return {
    ...known,
    requests,
    aheadMs: 0,
    async fetch(input, init) {
      const { method, url } = new Request(input, init);
      const response = await fetch(input, init);
      const form = new URLSearchParams(String(init?.body ?? ""));
      const grant_type = form.get("grant_type")?.replace(/.*:/, "");
      const { status } = response;
      requests.push({ method, url, status, ...(grant_type && { grant_type }) });
      return response;
    },
  };
}

/** Returns what an earlier step found; throws if it is missing. */
export function need<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`No earlier step found ${what}`);
  return value;
}

/** Runs the steps until one fails; returns whether all succeeded. */
export async function runSteps(
  steps: readonly IStep[],
  progress: IProgress,
  output: IOutput,
): Promise<boolean> {
  const { requests } = progress;
  for (const { name: step, action, expected, run } of steps) {
    const start = performance.now();
    requests.length = 0;
    const found: IResult & { error?: Error } = await (async () => {
      try {
        return await run(progress);
      } catch (thrown) {
        const error = thrown as Error;
        return { result: error.message, ok: false, error };
      }
    })();
    const { ok = true } = found;
    const ms = performance.now() - start;
    output.step({ step, action, requests, ...found, ms, ok, expected });
    if (!ok) return false;
  }
  return true;
}
