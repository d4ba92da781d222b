/** A fetch that obtains tokens itself, by the code flow. */

export { codeFlow, createAuthorizedFetch, memoryStore } from "../../../mod.ts";
