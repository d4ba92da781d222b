import handler, { createServerEntry } from "@tanstack/react-start/server-entry";
import { signIn } from "./sign_in.ts";

export default createServerEntry({
  async fetch(request) {
    return await signIn.handle(request) ??
      await signIn.forward(request, { path: "/api" }) ??
      await handler.fetch(request);
  },
});
