import handler, { createServerEntry } from "@tanstack/react-start/server-entry";
import { answer } from "./sign_in.ts";

export default createServerEntry({
  async fetch(request) {
    return await answer(request) ?? await handler.fetch(request);
  },
});
