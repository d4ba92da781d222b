/**
 * Imitations of platforms that issue assertions of a workload's identity, with the
 * issuers and subjects of the examples in their documentation.
 */
import { serve } from "./_serve.ts";
import { createSigner, type ISigner } from "./cross_app_access.ts";

/** A platform, its key, and the environment of the programs that run on it. */
export interface IPlatform extends AsyncDisposable {
  signer: ISigner;
  claims: { iss: string; sub: string };
  env: Record<string, string>;
}

/** The service from which a job of GitHub Actions requests its ID token. */
export async function startGitHubActions(): Promise<IPlatform> {
  const claims = {
    iss: "https://token.actions.githubusercontent.com",
    sub: "repo:octo-org/octo-repo:environment:prod",
    repository: "octo-org/octo-repo",
  };
  const signer = await createSigner(claims.iss);
  const token = crypto.randomUUID();
  const server = serve(async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    const isRight = pathname === "/abc123//idtoken/1/2" &&
      searchParams.get("api-version") === "2.0" &&
      request.headers.get("Authorization")?.toLowerCase() === `bearer ${token}`;
    if (!isRight) return new Response(null, { status: 401 });
    // Without the parameter, it is the URL of the repository's owner.
    const aud = searchParams.get("audience") ?? "https://github.com/octo-org";
    const value = await signer.sign("JWT", { ...claims, aud });
    return Response.json({ count: value.length, value });
  });
  return {
    signer,
    claims,
    env: {
      ACTIONS_ID_TOKEN_REQUEST_URL:
        `${server.origin}/abc123//idtoken/1/2?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: token,
    },
    [Symbol.asyncDispose]: server.close,
  };
}

/** The file with the token that a kubelet projects into a pod. */
export async function startKubernetes(audience: string): Promise<IPlatform> {
  const claims = {
    iss: "https://my-cluster.example.com",
    sub: "system:serviceaccount:my-namespace:my-serviceaccount",
    "kubernetes.io": { namespace: "my-namespace" },
  };
  const signer = await createSigner(claims.iss);
  const file = await Deno.makeTempFile();
  await Deno.writeTextFile(
    file,
    await signer.sign("JWT", { ...claims, aud: [audience] }),
  );
  return {
    signer,
    claims,
    env: { TOKEN_FILE: file },
    [Symbol.asyncDispose]: () => Deno.remove(file),
  };
}

/** The metadata server of a virtual machine. */
export async function startGoogleCloud(): Promise<IPlatform> {
  const claims = {
    iss: "https://accounts.google.com",
    sub: "107517467455664443765",
    email: "739419398126-compute@developer.gserviceaccount.com",
  };
  const signer = await createSigner(claims.iss);
  const path = "/computeMetadata/v1/instance/service-accounts/default/identity";
  const server = serve(async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    const aud = searchParams.get("audience");
    // The field is required against pages and forms that are made to request it.
    const isRight = pathname === path && aud &&
      request.headers.get("Metadata-Flavor") === "Google";
    if (!isRight) return new Response(null, { status: 403 });
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
