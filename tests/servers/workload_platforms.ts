/**
 * Imitations of platforms that issue assertions of a workload's identity. The claims are
 * those of the examples in their public documentation, but for `aud` and the times.
 */
import { serve } from "./_serve.ts";
import { createSigner, type ISigner } from "./cross_app_access.ts";

/** docs.github.com, "OpenID Connect reference", example of an OIDC token. */
export const GITHUB_CLAIMS = {
  iss: "https://token.actions.githubusercontent.com",
  sub: "repo:octo-org/octo-repo:environment:prod",
  environment: "prod",
  ref: "refs/heads/main",
  sha: "example-sha",
  repository: "octo-org/octo-repo",
  repository_owner: "octo-org",
  actor_id: "12",
  repository_visibility: "private",
  repository_id: "74",
  repository_owner_id: "65",
  run_id: "example-run-id",
  run_number: "10",
  run_attempt: "2",
  runner_environment: "github-hosted",
  actor: "octocat",
  workflow: "example-workflow",
  head_ref: "",
  base_ref: "",
  event_name: "workflow_dispatch",
  ref_type: "branch",
  job_workflow_ref:
    "octo-org/octo-automation/.github/workflows/oidc.yml@refs/heads/main",
};

/** kubernetes.io, "Managing Service Accounts", claims of a bound token. */
export const KUBERNETES_CLAIMS = {
  iss: "https://my-cluster.example.com",
  sub: "system:serviceaccount:my-namespace:my-serviceaccount",
  "kubernetes.io": {
    namespace: "my-namespace",
    node: { name: "my-node", uid: "646e7c5e-32d6-4d42-9dbd-e504e6cbe6b1" },
    pod: { name: "my-pod", uid: "5e0bd49b-f040-43b0-99b7-22765a53f7f3" },
    serviceaccount: {
      name: "my-serviceaccount",
      uid: "14ee3fa4-a7e2-420f-9f9a-dbc4507c3798",
    },
  },
};

/** cloud.google.com, "Verify the identity of VMs", payload with `format=full`. */
export const GOOGLE_CLAIMS = {
  iss: "https://accounts.google.com",
  sub: "107517467455664443765",
  azp: "107517467455664443765",
  email: "739419398126-compute@developer.gserviceaccount.com",
  email_verified: true,
  google: {
    compute_engine: {
      project_id: "my-project",
      project_number: 739419398126,
      zone: "us-west1-a",
      instance_id: "152986662232938449",
      instance_name: "example",
      instance_creation_timestamp: 1496952205,
    },
  },
};

/** A platform, its key, and the environment of the programs that run on it. */
export interface IPlatform extends AsyncDisposable {
  signer: ISigner;
  claims: { iss: string; sub: string };
  env: Record<string, string>;
}

/** The service from which a job of GitHub Actions requests its ID token. */
export async function startGitHubActions(): Promise<IPlatform> {
  const claims = GITHUB_CLAIMS;
  const signer = await createSigner(claims.iss);
  const token = crypto.randomUUID();
  const server = serve(async (request) => {
    const url = new URL(request.url);
    if (
      url.pathname !== "/abc123//idtoken/1/2" ||
      url.searchParams.get("api-version") !== "2.0"
    ) {
      return new Response(null, { status: 404 });
    }
    const given = request.headers.get("Authorization") ?? "";
    if (!/^bearer /i.test(given) || given.slice(7) !== token) {
      return new Response(null, { status: 401 });
    }
    // Without the parameter, it is the URL of the repository's owner.
    const aud = url.searchParams.get("audience") ??
      "https://github.com/octo-org";
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
  const claims = KUBERNETES_CLAIMS;
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
  const claims = GOOGLE_CLAIMS;
  const signer = await createSigner(claims.iss);
  const path = "/computeMetadata/v1/instance/service-accounts/default/identity";
  const server = serve(async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== path) return new Response(null, { status: 404 });
    // Against pages and forms that are made to request it.
    const isAllowed = request.headers.get("Metadata-Flavor") === "Google" &&
      !request.headers.has("X-Forwarded-For");
    if (!isAllowed) return new Response(null, { status: 403 });
    const aud = searchParams.get("audience");
    if (!aud) return new Response(null, { status: 400 });
    const { google: _, ...standard } = claims;
    const isFull = searchParams.get("format") === "full";
    return new Response(
      await signer.sign("JWT", { ...(isFull ? claims : standard), aud }),
      { headers: { "Metadata-Flavor": "Google" } },
    );
  });
  return {
    signer,
    claims,
    env: { GCE_METADATA_HOST: new URL(server.origin).host },
    [Symbol.asyncDispose]: server.close,
  };
}
