/**
 * Programs that run a command for a token, as the manual configures them. Each test
 * quotes the document of the format, as it was on 28 November 2026.
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { createCertificate } from "../faults/certificate.ts";
import { startFlowServers } from "../servers/_flow.ts";
import { pageAt, sectionOf } from "../support/markdown.ts";
import { start } from "../support/terminal.ts";
import { type Desk, test } from "./_desk.ts";
import { installOnPath } from "./_programs.ts";

const SECTION = sectionOf(
  pageAt("command.md"),
  "## In a host's credential hook",
);

/** The block of the manual below a paragraph that starts with a name. */
function blockOf(name: string): string {
  const below = SECTION.slice(SECTION.indexOf(`**${name}**`));
  return /^```\w+\n([^]*?)^```/m.exec(below)?.[1] ?? "";
}

interface Hook {
  /** What the manual shows, for the API of the test. */
  readonly block: string;
  readonly token: string;
  /** Writes a file to a directory on the path, and returns its own path. */
  write(name: string, text: string): Promise<string>;
  run(line: string, env?: Record<string, string>): Promise<string>;
}

/** Signs in, and plays a host with the block of the manual. */
async function withHook(
  desk: Desk,
  name: string,
  play: (hook: Hook) => Promise<void>,
  options: readonly string[] = [],
): Promise<void> {
  await using servers = await startFlowServers();
  const { resource } = servers.protectedResource;
  await desk.signIn(["login", ...options, "--scope=openid", resource]);
  const { output } = await desk.run(["token", ...options, resource]);
  const { home } = desk;
  await installOnPath(home);
  await play({
    block: blockOf(name).replaceAll("https://api.example/notes", resource),
    token: output.trim(),
    async write(name, text) {
      const path = `${home}/${name}`;
      await Deno.writeTextFile(path, text, { mode: 0o700 });
      return path;
    },
    async run(line, env) {
      const { code, output, errors } = await start(["bash", "-c", line], [], {
        home,
        env: {
          // Version managers find the program there.
          HOME: Deno.env.get("HOME") ?? home,
          XDG_STATE_HOME: `${home}/.local/state`,
          PATH: `${home}:${Deno.env.get("PATH")}`,
          ...env,
        },
      }).end();
      assertEquals(code, 0, errors);
      return output;
    },
  });
}

function startHost(
  respond: (request: Request) => Response | Promise<Response>,
  certificate?: { key: string; cert: string },
) {
  const sent = new Set<string | null>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {}, ...certificate },
    (request) => {
      sent.add(request.headers.get("Authorization"));
      return respond(request);
    },
  );
  return {
    host: `127.0.0.1:${server.addr.port}`,
    sent,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

// "The API version returned by the plugin MUST match the version listed here."
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
test(
  "kubectl sends the token of --format kubernetes in both versions",
  (desk) =>
    withHook(desk, "kubectl", async ({ block, token, write, run }) => {
      const certificate = createCertificate();
      await using api = startHost(() => Response.json({}), certificate);
      const authority = await write("ca.pem", certificate.cert);
      for (const version of ["v1", "v1beta1"]) {
        const path = await write(
          "kubeconfig",
          `apiVersion: v1
kind: Config
clusters:
  - name: notes
    cluster: { server: "https://${api.host}", certificate-authority: ${authority} }
contexts: [{ name: notes, context: { cluster: notes, user: ada } }]
current-context: notes
${block.replace("k8s.io/v1", `k8s.io/${version}`)}`,
        );
        await run("kubectl get --raw /version", { KUBECONFIG: path });
        assertEquals([...api.sent], [`Bearer ${token}`]);
        api.sent.clear();
      }
    }),
  "kubectl",
);

// "Docker reads the user name and password from this payload"
// https://docs.docker.com/reference/cli/docker/login/#credential-helper-protocol
test(
  "docker sends the token of --format docker as a password",
  (desk) =>
    withHook(desk, "Docker", async ({ block, token, write, run }) => {
      const digest =
        "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
      const mediaType = "application/vnd.docker.distribution.manifest.v2+json";
      const config = {
        mediaType: "application/vnd.docker.container.image.v1+json",
        size: 2,
        digest,
      };
      await using registry = startHost(({ url, headers }) => {
        if (!headers.has("Authorization")) {
          const challenge = { "WWW-Authenticate": 'Basic realm="registry"' };
          return new Response(null, { status: 401, headers: challenge });
        }
        return url.includes("/blobs/") ? new Response("{}") : new Response(
          JSON.stringify({ schemaVersion: 2, mediaType, config, layers: [] }),
          { headers: { "Content-Type": mediaType } },
        );
      });
      await write("docker-credential-oauth", block);
      const settings = { credHelpers: { [registry.host]: "oauth" } };
      await write("config.json", JSON.stringify(settings));
      const manifest = await run(
        `docker manifest inspect --insecure ${registry.host}/ada/notes`,
        { DOCKER_CONFIG: desk.home },
      );
      assertStringIncludes(manifest, digest);
      const basic = btoa(`oauth2accesstoken:${token}`);
      assertEquals([...registry.sent], [null, `Basic ${basic}`]);
    }),
  "docker",
);

// "For a get operation, the helper should produce a list of attributes on stdout"
// https://git-scm.com/docs/gitcredentials
test(
  "git reads the token of the snippet, which ignores other operations",
  (desk) =>
    withHook(desk, "Git", async ({ block, token, run }) => {
      const env = { GIT_CONFIG_GLOBAL: `${desk.home}/gitconfig` };
      await run(block, env);
      const input = "printf 'protocol=https\\nhost=git.example\\n\\n'";
      const filled = await run(`${input} | git credential fill`, env);
      assertStringIncludes(filled, `\nusername=oauth2\npassword=${token}\n`);
      for (const operation of ["approve", "reject"]) {
        const input = `printf '${filled.replaceAll("\n", "\\n")}\\n'`;
        await run(`${input} | git credential ${operation}`, env);
      }
    }),
  "git",
);

// "AccessKeyId and SecretAccessKey are always required."
// https://docs.rs/aws-config/0.50.0/aws_config/credential_process/struct.CredentialProcessProvider.html
// "The OAuth 2.0 access token or OpenID Connect ID token that is provided by the
// identity provider" is a parameter of AssumeRoleWithWebIdentity.
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
test(
  "aws reads the access key that its STS gives for the ID token",
  (desk) =>
    withHook(desk, "AWS", async ({ block, token, write, run }) => {
      const tokens = new Set<string | null>();
      const result = "AssumeRoleWithWebIdentity";
      await using sts = startHost(async (request) => {
        const form = new URLSearchParams(await request.text());
        tokens.add(form.get("WebIdentityToken"));
        return new Response(
          `<${result}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<${result}Result><Credentials><AccessKeyId>ASIAEXAMPLE</AccessKeyId>
<SecretAccessKey>secret</SecretAccessKey><SessionToken>session</SessionToken>
<Expiration>2049-01-01T00:00:00Z</Expiration></Credentials></${result}Result>
</${result}Response>`,
          { headers: { "Content-Type": "text/xml" } },
        );
      });
      const script = await write("notes-credentials", block);
      const config = await write(
        "aws-config",
        `[profile notes]\nregion = us-east-1\ncredential_process = ${script}\n`,
      );
      const shown = await run("aws configure list", {
        AWS_CONFIG_FILE: config,
        AWS_PROFILE: "notes",
        AWS_ENDPOINT_URL_STS: `http://${sts.host}`,
      });
      assertStringIncludes(shown, "custom-process");
      assertEquals([...tokens], [token]);
      assertEquals([...sts.sent], [null]);
    }, ["--id-token"]),
  "aws",
);
