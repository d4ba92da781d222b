/** Plays one fault to every network function, and derives what each ends with. */

import {
  type Case,
  type Input,
  type OperationName,
  OPERATIONS,
  type Outcome,
  type World,
} from "./case.ts";
import type { Play } from "./fault_server.ts";
import { IS_GOOD } from "./operations.ts";

/** A fault that is the same at every URL. */
export interface Fault {
  readonly name: string;
  readonly play?: Play;
  readonly server?: Case["server"];
  /**
   * How an attempt of a discovery fails: a code, or the name of an error that
   * `fetch` threw; several where runtimes differ. Absent when nothing fails.
   */
  readonly attempt?: string | readonly string[];
  /** How a single request fails, where that is not the same. */
  readonly request?: string | readonly string[];
  /** The document is rejected for its content: something is published there. */
  readonly isRefused?: true;
  /** Some runtimes make a correct response of it, which is right as well. */
  readonly mayWork?: true;
  /** Status of the response; undefined when there is none. */
  readonly status?: number;
  /** Requests of each attempt, redirects included; 1 when absent. */
  readonly hops?: number;
  readonly members?: Record<string, unknown>;
  readonly networkReason?: Outcome["networkReason"];
  /** No request gets through to the server. */
  readonly unheard?: true;
  readonly timeoutMs?: number;
  readonly options?: (world: World) => Record<string, unknown>;
  readonly input?: (world: World) => Input;
  readonly forbidden?: readonly string[];
  /** The only operations that it is played to; all when absent. */
  readonly only?: readonly OperationName[];
  /** What is otherwise for one operation. */
  readonly except?: Partial<Record<OperationName, Partial<Case>>>;
}

/** For cases that take long: one function of each kind. */
export const FEW: readonly OperationName[] = [
  "fetchAuthorizationServerMetadata",
  "discoverAuthorization",
  "registerClient",
  "fetchToken",
];

const ATTEMPTS: Partial<Record<OperationName, number>> = {
  fetchResourceMetadata: 2,
  fetchAuthorizationServerMetadata: 3,
  discoverAuthorization: 4,
};

/** What the same fault is called where one request is all there is. */
const AS_REQUEST: Record<string, string> = {
  TypeError: "network_error",
  invalid_metadata: "invalid_response",
};

/** Whether a discovery used the server of the same origin. */
export const IS_FALLBACK: NonNullable<Case["outcome"]["result"]> = (
  { source, issuer },
  { here },
) => source === "fallback" && issuer === here;

/** A discovery whose outcome depends on how the runtime handles the fault. */
export const MAY_FALL_BACK: Partial<Case> = {
  outcome: {
    code: "discovery_failed",
    orResult: ({ source }) => source === "fallback",
  },
};

/** A registration that fails by its status reports that, whatever the body. */
export const LITERAL_REGISTRATION: NonNullable<Fault["except"]> = {
  fetchDynamicRegistration: { outcome: { code: "unexpected_status" } },
  registerClient: { outcome: { code: "unexpected_status" } },
};

/** Whether polling for a token goes on after this. */
function isTransient(code: string, status = 0): boolean {
  return code === "network_error" || code === "timeout" || status >= 500 ||
    status === 429;
}

/** Whether a response like this says that nothing is published at its URL. */
function isUnpublished({ attempt, status = 500, isRefused }: Fault): boolean {
  const isClientError = status >= 400 && status < 500 && status !== 429;
  return [attempt ?? []].flat().every((code) =>
    (code === "unexpected_status" && isClientError) ||
    (code === "invalid_metadata" && !isRefused)
  );
}

/** Counts that are possible when an attempt may work. */
function upTo(last: number, hops: number, mayWork?: true): number | number[] {
  return mayWork
    ? Array.from({ length: last }, (_, index) => (index + 1) * hops)
    : last * hops;
}

function expected(
  operation: OperationName,
  fault: Fault,
): Pick<Case, "outcome" | "requests"> {
  const { attempt, request, status, hops = 1, mayWork } = fault;
  const { members, networkReason } = fault;
  const attempts = ATTEMPTS[operation];
  if (attempt === undefined) {
    const requests = operation === "discoverAuthorization" ? 2 : 1;
    return { outcome: { result: IS_GOOD[operation] }, requests };
  }
  const or = mayWork && { orResult: IS_GOOD[operation] };
  const told = {
    ...(members && { members }),
    ...(networkReason && { networkReason }),
  };
  const labels = [attempt].flat();
  if (labels[0] === "timeout" && operation !== "pollDeviceToken") {
    // On a machine under load the time may be up before the request is out.
    return { outcome: { code: "timeout" }, requests: [0, 1] };
  }
  if (attempts !== undefined) {
    const requests = upTo(attempts, hops, mayWork);
    if (operation !== "discoverAuthorization") {
      const failures = attempts;
      return { outcome: { each: attempt, failures, ...told, ...or }, requests };
    }
    return isUnpublished(fault)
      ? { outcome: { result: IS_FALLBACK, ...or }, requests }
      : { outcome: { code: "discovery_failed", ...or }, requests };
  }
  const single = [request ?? labels.map((label) => AS_REQUEST[label] ?? label)]
    .flat();
  if (operation === "pollDeviceToken") {
    const ends = single.map((code) =>
      isTransient(code, status) ? "expired" : code
    );
    if (ends.includes("expired")) {
      const requests = labels[0] === "timeout"
        ? [0, 1, 2]
        : mayWork
        ? [1, 2]
        : 2;
      return { outcome: { code: [...new Set(ends)], ...or }, requests };
    }
  }
  return { outcome: { code: single, ...told, ...or }, requests: 1 };
}

/** The cases of these faults: each played to every operation. */
export function matrix(faults: readonly Fault[]): Case[] {
  return faults.flatMap((fault) =>
    (fault.only ?? OPERATIONS).map((operation): Case => ({
      operation,
      fault: fault.name,
      ...(fault.play && { play: fault.play }),
      ...(fault.server && { server: fault.server }),
      ...((fault.hops ?? 1) > 1 && { hops: true }),
      ...(fault.forbidden && { forbidden: fault.forbidden }),
      ...(fault.input && { input: fault.input }),
      options: (world) => ({
        ...(fault.timeoutMs && { timeoutMs: fault.timeoutMs }),
        ...fault.options?.(world),
      }),
      ...expected(operation, fault),
      ...(fault.unheard && { requests: 0 }),
      ...fault.except?.[operation],
    }))
  );
}
