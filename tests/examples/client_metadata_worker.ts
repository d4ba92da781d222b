/** A Worker that publishes the client metadata document of a web server with a key. */
import { buildClientMetadata } from "@oauth-helper/client";

export default {
  fetch(request: Request, env: { URL: string; PUBLIC_JWK: string }): Response {
    // Constant: the host of a request is not always the one that servers know.
    if (request.url !== env.URL) return new Response(null, { status: 404 });
    const document = buildClientMetadata({
      url: env.URL,
      clientName: "My app",
      redirectUris: [new URL("/callback", env.URL)],
      jwks: { keys: [JSON.parse(env.PUBLIC_JWK)] },
    });
    const headers = { "Cache-Control": "public, max-age=3600" };
    return Response.json(document, { headers });
  },
};
