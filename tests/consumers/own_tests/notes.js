/** A small program: it reads and writes notes of an API that requires a token. */
import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";

export function createNotes(url, { signIn, ...options }) {
  const api = createAuthorizedFetch(url, {
    ...options,
    authorize: codeFlow({
      ...signIn,
      clientMetadata: { client_name: "Notes" },
    }),
  });
  const check = async (response) => {
    if (!response.ok) throw new Error(`The API says ${response.status}`);
    return await response.json();
  };
  return {
    list: async () => await check(await api(url)),
    add: async (note) =>
      await check(await api(url, { method: "POST", body: note })),
    signOut: () => api.revoke(),
  };
}
