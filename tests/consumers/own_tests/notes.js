/** A small program: it reads the notes of an API that requires a token. */
import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";

export function createNotes(url, { signIn, ...options }) {
  const api = createAuthorizedFetch(url, {
    ...options,
    flow: codeFlow({
      ...signIn,
      clientMetadata: { client_name: "Notes" },
    }),
  });
  return { list: async () => await (await api(url)).json() };
}
