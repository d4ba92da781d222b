import { requireSafeUrl } from "../core/_url.ts";
import { OAuthClientError } from "../core/errors.ts";
import { request } from "../http/_request.ts";
import { parseJson } from "../http/_response.ts";
import { type Context, fork } from "../http/_context.ts";
import type { FetchLike, RequestPurpose } from "../http/request_options.ts";
import type { AssumedDocument } from "./_assumptions.ts";
import type { Probe } from "./_facts.ts";
import type { Recorder } from "./_recorder.ts";
import type { DiagnoseOptions, DiagnosisStepName } from "./diagnosis.ts";
import { isMembers } from "../core/_members.ts";

export interface Survey {
  readonly target: URL;
  readonly options: DiagnoseOptions;
  readonly transport: Context;
  readonly recorder: Recorder;
  /** Whether the caller has set a URL on loopback, so that a server may send others. */
  readonly allowLoopback: boolean;
  /** A document that replaces a response. */
  readonly document?: AssumedDocument | undefined;
}

/** Returns a context for one trial, which is noted only there. */
export function trialOf(
  { transport, options }: Survey,
  fetch: FetchLike,
): Context {
  return { ...fork(transport), fetch, allowHttp: options.allowHttp };
}

export async function attempt<T>(
  { options }: Survey,
  task: () => Promise<T>,
): Promise<{ result?: T; error?: OAuthClientError }> {
  try {
    return { result: await task() };
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof OAuthClientError) return { error };
    throw error;
  }
}

/** A request of one step, and its purpose for the caller's `allowUrl`. */
export interface ProbeRequest {
  readonly name: DiagnosisStepName;
  readonly purpose: RequestPurpose;
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Whether no client makes it. */
  readonly isExtra?: boolean;
}

export async function probe(
  survey: Survey,
  { name, purpose, url, method = "GET", headers = {}, body, isExtra = false }:
    ProbeRequest,
): Promise<Probe> {
  const fetch = survey.recorder.fetchFor(() => name, { isExtra, method });
  const { result, error } = await attempt(survey, () => {
    const { options: { allowHttp }, allowLoopback } = survey;
    requireSafeUrl("the URL", url, { allowHttp, allowLoopback });
    return request(
      { url, purpose, headers, ...(body !== undefined && { body }) },
      trialOf(survey, fetch),
    );
  });
  return {
    method,
    url,
    ...(result && { response: result }),
    ...(error && { error }),
  };
}

/** A request without any effect. */
export const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

/** The first request of every client. */
export const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "Doctor of @oauth-helper/client", version: "1.0.0" },
  },
});

/** Checks whether a body comes from such a server. */
export function isJsonRpc(text: string | undefined): boolean {
  const body = parseJson(text ?? "");
  return isMembers(body) && body.jsonrpc === "2.0";
}
