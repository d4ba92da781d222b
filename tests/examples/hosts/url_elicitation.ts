import * as oauth from "@oauth-helper/client";
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import { UrlElicitationRequiredError } from "@modelcontextprotocol/sdk/types.js";
import { openCookie, sealCookie } from "../sealed_cookie.ts";

export interface IElsewhereOptions {
  /** URL of this server, without a slash at the end. */
  origin: string;
  /** The API of another service, and the client that is registered there. */
  resource: string;
  client: oauth.IKnownClient;
  /** Where the sessions of the users at the other service are kept. */
  storeOf(user: string): oauth.ISessionStore;
}

/**
 * Calls another service for the users of an MCP server, who sign in there in a browser
 * (SEP-1036). The tokens of the service never reach the MCP client. In the browser, the
 * cookie names the user who is signed in to this server.
 */
export function createElsewhere(options: IElsewhereOptions) {
  const { origin, resource, client, storeOf } = options;
  const redirectUri = `${origin}/callback`;
  const asked = new Map<string, { id: string; complete(): Promise<void> }>();
  const apiOf = (user: string) =>
    oauth.createAuthorizedFetch(resource, { client, store: storeOf(user) });
  const visitOf = ({ headers }: Request) => openCookie(headers.get("Cookie"));
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
      const visit = await visitOf(request);
      const id = new URL(request.url).searchParams.get("id");
      // Otherwise one user could have another sign in.
      if (!visit.id || asked.get(visit.id)?.id !== id) {
        return new Response("This was not asked of you", { status: 403 });
      }
      const challenge = await fetch(resource);
      const context = await oauth.discoverAuthorization(resource, {
        challenge,
      });
      const session = await apiOf(visit.id).session();
      const start = { client, redirectUri, offlineAccess: true, session };
      const { url, pending } = await oauth.startAuthorization(context, start);
      const cookie = await sealCookie({ ...visit, pending });
      const headers = { Location: url.href, "Set-Cookie": cookie };
      return new Response(null, { status: 303, headers });
    },
    /** `GET /callback`, where the other service redirects the user to. */
    async callback(request: Request): Promise<Response> {
      const { id: user, pending } = await visitOf(request);
      const { search, searchParams } = new URL(request.url);
      if (!user || !pending || pending.state !== searchParams.get("state")) {
        return new Response("This was not asked of you", { status: 403 });
      }
      await apiOf(user).finish(redirectUri + search, pending);
      const elicitation = asked.get(user);
      asked.delete(user);
      // The MCP client may have gone.
      await elicitation?.complete().catch(() => {});
      const headers = { "Set-Cookie": await sealCookie({ id: user }) };
      return new Response("Return to your program", { headers });
    },
  };
}
