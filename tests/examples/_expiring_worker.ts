/** The example for Workers, with a path that makes the token of a user expire. */

import worker, { SessionObject, signIn } from "./worker.ts";

export { SessionObject };

export default {
  async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== "/expire") {
      return await worker.fetch(request);
    }
    const api = await signIn.apiOf(request);
    const session = await api?.session();
    if (session) {
      session.token.expires_at = 1;
      await api?.save(session);
    }
    return new Response("expired");
  },
};
