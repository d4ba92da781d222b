/**
 * Imitations of platforms that issue assertions of a workload's identity, with the
 * `iss` and `sub` of the examples in their public documentation.
 */
import { serve } from "./_serve.ts";
import { createSigner, type Signer } from "./cross_app_access.ts";

/** A platform, its key, and the environment of the programs that run on it. */
export interface Platform extends AsyncDisposable {
  signer: Signer;
  claims: { iss: string; sub: string };
  env: Record<string, string>;
}

const failed = (status: number) => new Response(null, { status });

/** The service from which a job of GitHub Actions requests its ID token. */
export async function startGitHubActions(): Promise<Platform> {
  const claims = {
    iss: "https://token.actions.githubusercontent.com",
    sub: "repo:octo-org/octo-repo:environment:prod",
  };
  const signer = await createSigner(claims.iss);
  const token = crypto.randomUUID();
  const path = "/abc123//idtoken/1/2";
  const server = serve(async ({ url, headers }) => {
    const { pathname, searchParams } = new URL(url);
    const isKnown = pathname === path &&
      searchParams.get("api-version") === "2.0";
    if (!isKnown) return failed(404);
    const given = headers.get("Authorization") ?? "";
    if (!/^bearer /i.test(given) || given.slice(7) !== token) {
      return failed(401);
    }
    // Without the parameter, it is the URL of the repository's owner.
    const aud = searchParams.get("audience") ?? "https://github.com/octo-org";
    const value = await signer.sign("JWT", { ...claims, aud });
    return Response.json({ count: value.length, value });
  });
  return {
    signer,
    claims,
    env: {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${server.origin}${path}?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: token,
    },
    [Symbol.asyncDispose]: server.close,
  };
}

/** The file with the token that a kubelet projects into a pod. */
export async function startKubernetes(audience: string): Promise<Platform> {
  const claims = {
    iss: "https://my-cluster.example.com",
    sub: "system:serviceaccount:my-namespace:my-serviceaccount",
  };
  const signer = await createSigner(claims.iss);
  const file = await Deno.makeTempFile();
  const token = await signer.sign("JWT", { ...claims, aud: [audience] });
  await Deno.writeTextFile(file, token);
  return {
    signer,
    claims,
    env: { TOKEN_FILE: file },
    [Symbol.asyncDispose]: () => Deno.remove(file),
  };
}

/** The metadata server of a virtual machine. */
export async function startGoogleCloud(): Promise<Platform> {
  const claims = {
    iss: "https://accounts.google.com",
    sub: "107517467455664443765",
  };
  const signer = await createSigner(claims.iss);
  const path = "/computeMetadata/v1/instance/service-accounts/default/identity";
  const server = serve(async ({ url, headers }) => {
    const { pathname, searchParams } = new URL(url);
    if (pathname !== path) return failed(404);
    // Against pages and forms that are made to request it.
    const isAllowed = headers.get("Metadata-Flavor") === "Google" &&
      !headers.has("X-Forwarded-For");
    if (!isAllowed) return failed(403);
    const aud = searchParams.get("audience");
    if (!aud) return failed(400);
    return new Response(await signer.sign("JWT", { ...claims, aud }), {
      headers: { "Metadata-Flavor": "Google" },
    });
  });
  return {
    signer,
    claims,
    env: { GCE_METADATA_HOST: new URL(server.origin).host },
    [Symbol.asyncDispose]: server.close,
  };
}
