/** All of the other steps in one: a `fetch` that obtains its token and refreshes it. */
import { codeFlow, createAuthorizedFetch } from "../../mod.ts";
import { type IProgress, type IResult, type IStep, need } from "./steps.ts";

/** Calls the resource and counts the token requests. */
async function call({ api, target, requests }: IProgress): Promise<IResult> {
  const response = await need(api, "an authorized fetch")(target);
  await response.body?.cancel();
  const { status, statusText } = response;
  const grants = requests.flatMap(({ grant_type }) => grant_type ?? []);
  return {
    result: `${status} ${statusText} after ${grants.length} token request: ` +
      grants.join(", "),
    ok: status === 200 && grants.length === 1,
  };
}

const callWithoutToken: IStep = {
  name: "authorized_fetch",
  action: "Call the resource: createAuthorizedFetch() with codeFlow()",
  expected: "200 after 1 token request",
  async run(progress) {
    let visited = "";
    const { receiver } = progress;
    progress.api = createAuthorizedFetch(progress.target, {
      authorize: codeFlow({
        clientMetadata: { client_name: "OAuth helper demo" },
        redirectUri: receiver.redirectUri,
        visit(url, visit) {
          visited = url.origin + url.pathname;
          return receiver.visit(url, visit);
        },
      }),
      fetch: progress.fetch,
      now: () => Date.now() + progress.aheadMs,
    });
    return { ...await call(progress), details: { visited } };
  },
};

const callAfterExpiry: IStep = {
  name: "authorized_fetch_refresh",
  action: "Call it again after the token has expired",
  expected: "200 after 1 token request",
  async run(progress) {
    const session = await progress.api?.session();
    const { expires_in } = need(session, "a session").token;
    progress.aheadMs += need(expires_in, "a lifetime of the token") * 1_000;
    return await call(progress);
  },
};

/** The authorized fetch, before and after its token has expired. */
export const sessionSteps: readonly IStep[] = [
  callWithoutToken,
  callAfterExpiry,
];
