import {
  codeFlow,
  createAuthorizedFetch,
  isOAuthClientError,
} from "@oauth-helper/client";
import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";

/** A server as the user sees it. */
export interface ServerState {
  readonly url: string;
  readonly state:
    | "unknown"
    | "signed in"
    | "sign-in required"
    | "signing in"
    | "error";
  /** Why a sign-in is required, or what the error is. */
  readonly why: string;
}

type Change = Omit<ServerState, "url">;

function stateOf(error: unknown): Change {
  if (!isOAuthClientError(error) || error.code !== "sign_in_required") {
    return { state: "error", why: String(error) };
  }
  // The cause is the last sign-in, if it was not finished.
  const { cause, signInReason: reason = "", scopes = [] } = error;
  const why = cause instanceof Error
    ? cause.message
    : [reason, ...scopes].join(" ");
  return { state: "sign-in required", why };
}

/**
 * Lists the servers of a host with a user interface. Calls open no browser, whatever
 * becomes of the session; only `signIn()` does, for a button.
 */
export function createServerList(
  urls: readonly string[],
  onChange: (servers: readonly ServerState[]) => void,
) {
  const servers: ServerState[] = urls.map((url) => {
    return { url, state: "unknown", why: "" };
  });
  // One for all servers, as one page is shown at a time.
  const flow = codeFlow({
    ...createLoopbackReceiver({ title: "Example host" }),
    clientMetadata: { client_name: "Example host" },
  });
  const apis = urls.map((url) =>
    createAuthorizedFetch(url, {
      flow,
      signInOn: "signIn",
      store: fileStore(`sessions/${encodeURIComponent(url)}.json`),
    })
  );
  const visits = new Map<number, AbortController>();

  function change(index: number, to: Change) {
    servers[index] = { ...servers[index]!, ...to };
    onChange(servers);
  }

  /** Makes a request of the host, which fails if the user has to sign in first. */
  async function call(index: number, init?: RequestInit): Promise<Response> {
    // During a sign-in, the list shows that.
    const show = (to: Change) => visits.has(index) || change(index, to);
    try {
      const response = await apis[index]!(urls[index]!, init);
      const { status } = response;
      const isError = status === 401 || status === 403 || status >= 500;
      show({
        state: isError ? "error" : "signed in",
        why: isError ? `Status ${status}` : "",
      });
      return response;
    } catch (error) {
      show(stateOf(error));
      throw error;
    }
  }

  /** Finds out the state of a server. */
  async function check(index: number): Promise<void> {
    // The list shows the error.
    const response = await call(index).catch(() => undefined);
    await response?.body?.cancel();
  }

  /** Opens the browser; called again, a new page in place of one that was closed. */
  async function signIn(index: number): Promise<void> {
    visits.get(index)?.abort();
    const visit = new AbortController();
    visits.set(index, visit);
    change(index, { state: "signing in", why: "" });
    const failure = await apis[index]!.signIn({ signal: visit.signal })
      .then(() => "", String);
    if (visits.get(index) !== visit) return;
    visits.delete(index);
    await check(index);
    const { state, why } = servers[index]!;
    if (state === "sign-in required") {
      change(index, { state, why: failure || why });
    }
  }

  /** Ends the sign-ins that the user has not finished. */
  function close(): void {
    const open = [...visits.values()];
    visits.clear();
    for (const visit of open) visit.abort();
  }

  return { servers, call, check, signIn, close };
}
