/** What the first program of README imports. */

export { codeFlow, createAuthorizedFetch } from "../../../mod.ts";
export { createLoopbackReceiver, fileStore } from "../../../lib/native/mod.ts";
