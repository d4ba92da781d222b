/** A client that is known by the URL of its metadata document (CIMD). */
import { assert, assertEquals } from "@std/assert";
import { selectClient } from "../../mod.ts";
import {
  REDIRECT_URI,
  signIn,
  startFlowServers,
  statusFor,
} from "../servers/_flow.ts";

Deno.test("a client gets from a 401 to a 200 with a client ID metadata document", async () => {
  const clientMetadataUrl = "https://client.example/metadata.json";
  await using servers = await startFlowServers({
    clientDocuments: {
      [clientMetadataUrl]: {
        client_id: clientMetadataUrl,
        client_name: "Flow test",
        redirect_uris: [REDIRECT_URI],
        application_type: "native",
        grant_types: ["authorization_code", "refresh_token"],
        token_endpoint_auth_method: "none",
      },
    },
  });
  const { server, context } = servers;
  const { serverMetadata, resource } = context;
  const selection = selectClient(serverMetadata, { clientMetadataUrl });
  assert(selection.kind === "client_metadata_document");
  const { client } = selection;
  assertEquals(client.client_id, clientMetadataUrl);
  const token = await signIn(context, { client });
  assertEquals(await statusFor(resource, token), 200);
  assert(!server.requests.includes("POST /reg"));
});
