import * as oauth from "@oauth-helper/client";
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import { UrlElicitationRequiredError } from "@modelcontextprotocol/sdk/types.js";

export interface ElsewhereOptions {
  /** URL of this server, without a slash at the end. */
  origin: string;
  /** The API of another service, and the client that is registered there. */
  resource: string;
  client: oauth.KnownClient;
  /** Where the sessions of the users at the other service are kept. */
  storeOf(user: string): oauth.SessionStore;
  /** Returns the user who is signed in to this server, by `userOf` of `./web` for example. */
  userOf(request: Request): Promise<string | undefined>;
}

/**
 * Calls another service for the users of an MCP server, who sign in there in a browser
 * (SEP-1036). The tokens of the service never reach the MCP client. The user has to be
 * signed in to this server in that browser: otherwise one could have another sign in.
 */
export function createElsewhere(options: ElsewhereOptions) {
  const { origin, resource, client, storeOf, userOf } = options;
  const redirectUri = `${origin}/callback`;
  const asked = new Map<string, { id: string; complete(): Promise<void> }>();
  const begun = new Map<string, oauth.PendingAuthorization>();
  const apiOf = (user: string) =>
    oauth.createAuthorizedFetch(resource, { client, store: storeOf(user) });
  return {
    /** In a tool: makes a request for its user, whom the access token names. */
    async call(user: string, { server }: McpServer): Promise<Response> {
      const response = await apiOf(user)(resource);
      if (response.status !== 401) return response;
      // Calls at once ask for one sign-in.
      let { id } = asked.get(user) ?? {};
      if (!id) {
        id = crypto.randomUUID();
        const complete = server.createElicitationCompletionNotifier(id);
        asked.set(user, { id, complete });
      }
      const url = `${origin}/connect?id=${id}`;
      const message = "Sign in to the other service";
      throw new UrlElicitationRequiredError([
        { mode: "url", elicitationId: id, url, message },
      ]);
    },
    /** `GET /connect`, which the MCP client has the user open. */
    async connect(request: Request): Promise<Response> {
      const user = await userOf(request) ?? "";
      const id = new URL(request.url).searchParams.get("id");
      if (!id || asked.get(user)?.id !== id) {
        return new Response("This was not asked of you", { status: 403 });
      }
      const challenge = await fetch(resource);
      const context = await oauth.discoverAuthorization(resource, {
        challenge,
      });
      const session = await apiOf(user).session();
      const start = { client, redirectUri, offlineAccess: true, session };
      const { url, pending } = await oauth.startAuthorization(context, start);
      begun.set(user, pending);
      return Response.redirect(url, 303);
    },
    /** `GET /callback`, where the other service redirects the user to. */
    async callback(request: Request): Promise<Response> {
      const user = await userOf(request) ?? "";
      const pending = begun.get(user);
      const { search, searchParams } = new URL(request.url);
      if (pending?.state !== searchParams.get("state") || !pending) {
        return new Response("This was not asked of you", { status: 403 });
      }
      await apiOf(user).finish(redirectUri + search, pending);
      const elicitation = asked.get(user);
      asked.delete(user);
      begun.delete(user);
      // The MCP client may have gone.
      await elicitation?.complete().catch(() => {});
      return new Response("Return to your program");
    },
  };
}
