/** A redirect URI that a server refuses to register, and another one in its place. */

import { assertEquals } from "@std/assert";
import {
  codeFlow,
  type RedirectUriRequest,
  type Session,
} from "../../../mod.ts";
import {
  comeBack,
  CONTEXT,
  pinRejected,
  REGISTRATION_ENDPOINT as REGISTER,
  TOKEN_ENDPOINT as TOKEN,
} from "../../support/fixtures.ts";
import { json, stubFetch } from "../../support/stub_fetch.ts";

const IP = "http://127.0.0.1:33418/callback";
const NAME = "http://localhost:33418/callback";

const REQUEST = { context: CONTEXT, scopes: ["read"] };

/** How a server refuses 127.0.0.1. */
const BY_CODE = { error: "invalid_redirect_uri" };
const BY_DESCRIPTION = {
  error: "invalid_client_metadata",
  error_description: "Redirect URI must have a host name",
};
const OTHERWISE = {
  error: "invalid_client_metadata",
  error_description: "client_uri is missing",
};

/** Runs sign-ins one after the other, each with the session of the one before. */
async function signIns(
  count: number,
  refusal: object,
  offer: (refused?: string) => string = (refused) => refused ? NAME : IP,
) {
  const asked: (string | undefined)[] = [];
  const visited: string[] = [];
  const registered: string[] = [];
  using stub = stubFetch({
    [REGISTER]({ body }) {
      const { redirect_uris } = JSON.parse(body!);
      registered.push(redirect_uris[0]);
      return redirect_uris[0] === NAME
        ? Response.json({ client_id: "c1", redirect_uris })
        : Response.json(refusal, { status: 400 });
    },
    [TOKEN]: json({ access_token: "a1" }),
  });
  let session: Session | undefined;
  for (let index = 0; index < count; index++) {
    const authorize = codeFlow({
      clientMetadata: {
        client_name: "Test",
        grant_types: ["authorization_code"],
      },
      redirectUri({ refused }: RedirectUriRequest) {
        asked.push(refused);
        return offer(refused);
      },
      visit(url) {
        visited.push(url.searchParams.get("redirect_uri")!);
        return comeBack(url);
      },
    });
    session = await authorize({ ...REQUEST, session, fetch: stub.fetch });
  }
  return { asked, visited, registered };
}

Deno.test("codeFlow() asks once for another redirect URI if the server refuses to register it", async () => {
  for (const refusal of [BY_CODE, BY_DESCRIPTION]) {
    assertEquals(await signIns(1, refusal), {
      asked: [undefined, IP],
      visited: [NAME],
      registered: [IP, NAME],
    });
  }
});

Deno.test("codeFlow() uses the registration again that it has with another redirect URI", async () => {
  assertEquals(await signIns(2, BY_CODE), {
    asked: [undefined, IP, undefined, IP],
    visited: [NAME, NAME],
    registered: [IP, NAME],
  });
});

Deno.test("codeFlow() fails with the refusal if there is no other redirect URI, or for another reason", async () => {
  const call = () => signIns(1, BY_CODE, () => IP);
  await pinRejected(call, "oauth_error", { error: "invalid_redirect_uri" });
  await pinRejected(() => signIns(1, OTHERWISE), "oauth_error");
});
