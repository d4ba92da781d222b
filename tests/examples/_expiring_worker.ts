/** The example for Workers, with a path that makes the token of a user expire. */

import type { ISession } from "@oauth-helper/client";
import worker, { User as WorkerUser } from "./worker.ts";

export class User extends WorkerUser {
  override async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== "/expire") {
      return await super.fetch(request);
    }
    const { storage } = this.ctx;
    const session = await storage.get<ISession>("session");
    if (session) session.token.expires_at = 1;
    await storage.put("session", session);
    return new Response("expired");
  }
}

export default worker;
