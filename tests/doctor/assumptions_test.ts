/** The doctor goes on after a fault: one run lists every fault of a server. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { diagnose, reportHtml } from "../../lib/doctor/mod.ts";
import {
  all,
  challenge,
  documents,
  only,
  parameters,
  resource,
  server,
} from "./_changes.ts";
import { TABLE } from "./_table.ts";
import { handler, signedIn } from "./_sign_in_world.ts";
import {
  diagnosed,
  handle,
  healthyModel,
  type Model,
  RESOURCE_PATH,
  ROOT_PATH,
  run,
  served,
  SERVER_PATH,
  TARGET,
} from "./_world.ts";
import { eachRowInTurn } from "../support/each_row.ts";

const OTHER = "https://other.example";

/** By finding: with what it would be seen, as `id` of what is assumed. */
type Assumed = Record<string, string[] | undefined>;

const assumedIn = (
  { findings }: Pick<Awaited<ReturnType<typeof diagnose>>, "findings">,
): Assumed =>
  Object.fromEntries(findings.map(({ id, assumed }) => [
    id,
    assumed?.map(({ finding }) => finding),
  ]));

const plain = server({ code_challenge_methods_supported: ["plain"] });
const elsewhere = server({ issuer: "http://localhost:9" });
const admin = parameters(', scope="admin"');
const noResource = resource({ resource: undefined });
const otherResource = resource({ resource: `${OTHER}/mcp` });
const appended = all(
  challenge("Bearer"),
  only((model) => ({
    [`/mcp${ROOT_PATH}`]: served(model.resourceMetadata),
    [SERVER_PATH]: served(model.serverMetadata),
  })),
);

const HIDING: [fault: (model: Model) => void, expected: Assumed][] = [
  [all(otherResource, elsewhere, plain, admin), {
    resource_mismatch: undefined,
    pkce_not_listed: ["resource_mismatch"],
    issuer_mismatch: ["resource_mismatch"],
    scope_not_listed: ["resource_mismatch"],
  }],
  [all(noResource, plain), {
    metadata_unusable: undefined,
    pkce_not_listed: ["metadata_unusable"],
  }],
  [all(appended, plain), {
    no_resource_metadata: undefined,
    pkce_not_listed: ["no_resource_metadata"],
  }],
  [
    all(
      otherResource,
      documents(() => ({
        [SERVER_PATH]: served("", { status: 404 }),
      })),
    ),
    {
      resource_mismatch: undefined,
      no_server_metadata: ["resource_mismatch"],
    },
  ],
  // An error without an option does not end the diagnosis, although it hides nothing.
  [
    all(
      elsewhere,
      plain,
      challenge("Bearer"),
      resource({ scopes_supported: [] }),
    ),
    {
      pkce_not_listed: undefined,
      issuer_mismatch: undefined,
      no_scopes: ["issuer_mismatch"],
    },
  ],
];

Deno.test("diagnose() lists every fault in one run, with what it had to assume for each", async () => {
  await eachRowInTurn(HIDING, async ([fault, expected]) => {
    const diagnosis = await diagnosed(fault);
    assertEquals(assumedIn(diagnosis), expected);
    assertEquals([diagnosis.verdict, diagnosis.options], ["broken", undefined]);
  });
});

Deno.test("diagnose() finds beside another resource what it finds without that", async () => {
  const parts = ["issuer", "pkce", "registration", "grants", "revocation"];
  const rows = TABLE.filter(({ part = "" }) => parts.includes(part));
  assert(rows.length > 10);
  await eachRowInTurn(rows, async ({ findings, change }) => {
    const { ids } = await diagnosed(all(change, otherResource));
    assertEquals(
      ids.toSorted(),
      [...findings, "error resource_mismatch"].toSorted(),
    );
  });
});

Deno.test("diagnose() states no assumption that it did not need", async () => {
  const rows: [change: (model: Model) => void, verdict: string][] = [
    [() => {}, "ready"],
    [plain, "broken"],
    [server({ code_challenge_methods_supported: undefined }), "needs_option"],
    [elsewhere, "needs_option"],
  ];
  await eachRowInTurn(rows, async ([change, verdict]) => {
    const diagnosis = await diagnosed(change);
    assertEquals(diagnosis.verdict, verdict);
    const assumed = diagnosis.findings.flatMap(({ assumed = [] }) => assumed);
    assertEquals(assumed, []);
  });
});

Deno.test("diagnose() writes its assumptions in every report, and no option that widens trust to copy", async () => {
  const model = healthyModel(new URL(TARGET).origin);
  all(otherResource, server({ issuer: `${OTHER}/as` }), admin)(model);
  const fetch = (url: string, init?: object) =>
    handle(model, new Request(url, init));
  const words = `The document at https://api.example${RESOURCE_PATH} is the ` +
    `metadata of ${TARGET}.`;
  const { text, status } = await run([TARGET], { fetch });
  const flat = text.replace(/\s+/g, " ");
  assertEquals(status, 1);
  assertStringIncludes(flat, `Assumed resource_mismatch: ${words}`);
  assert(!text.includes("To try it"), text);
  const json = JSON.parse((await run(["--json", TARGET], { fetch })).text);
  assertEquals(json.findings[1].assumed, [
    { finding: "resource_mismatch", message: words },
  ]);
  const page = reportHtml(json);
  assertStringIncludes(page, `<dt>Assumed</dt><dd>resource_mismatch: ${words}`);
});

Deno.test("diagnose() only reads documents of what it assumes", async () => {
  const sent: string[] = [];
  const model = healthyModel(new URL(TARGET).origin);
  const change = all(
    otherResource,
    resource({
      authorization_servers: [`${OTHER}/as`, "http://127.0.0.1:9/as"],
    }),
    server({ issuer: `${OTHER}/as` }),
  );
  change(model);
  const diagnosis = await diagnose(TARGET, {
    headers: { "X-Own": "own-credential" },
    serverMetadataHeaders: { "X-Server": "server-credential" },
    fetch: (url, init) => {
      sent.push(
        [init?.method, url, ...Object.values(init?.headers ?? {})].join(" "),
      );
      return handle(model, new Request(url, init as RequestInit));
    },
    signIn: {
      redirectUri: "http://127.0.0.1/",
      visit: () => Promise.reject(new Error("Unexpected visit")),
    },
  });
  const atOther = sent.filter((line) => line.includes(OTHER));
  assert(atOther.length > 0);
  for (const line of atOther) {
    assert(line.startsWith("GET ") && !line.includes("credential"), line);
  }
  assert(!sent.some((line) => line.startsWith("POST")), sent.join("\n"));
  assertEquals(diagnosis.signIn, undefined);
  assertStringIncludes(
    diagnosis.summary,
    "No sign-in is tried: who would receive it is only assumed.",
  );
});

Deno.test("diagnose() requests nothing on loopback for metadata of another resource that names it", async () => {
  const sent: string[] = [];
  const model = healthyModel(new URL(TARGET).origin);
  all(
    otherResource,
    resource({ authorization_servers: ["http://127.0.0.1:9/as"] }),
  )(model);
  const { findings } = await diagnose(TARGET, {
    fetch: (url, init) => {
      sent.push(url);
      return handle(model, new Request(url, init as RequestInit));
    },
  });
  assert(!sent.some((url) => url.includes("127.0.0.1")), sent.join("\n"));
  assertEquals(findings.map(({ id }) => id), [
    "resource_mismatch",
    "url_refused",
  ]);
});

Deno.test("diagnose() states what a sign-in has assumed", async () => {
  const diagnosis = await signedIn(all(
    server({ code_challenge_methods_supported: undefined }),
    handler("POST /as/revoke", () => new Response("", { status: 503 })),
  ));
  assertEquals(diagnosis.ids, [
    "error pkce_not_listed",
    "warning request_failed",
  ]);
  assertEquals(diagnosis.verdict, "needs_option");
  assertEquals(assumedIn(diagnosis), {
    pkce_not_listed: undefined,
    request_failed: ["pkce_not_listed"],
  });
});

Deno.test("diagnose() says that no sign-in is tried at a server that no client can use", async () => {
  const { summary, signIn } = await signedIn(
    server({ require_signed_request_object: true }),
  );
  assertEquals(signIn, undefined);
  assertStringIncludes(summary, "No sign-in is tried.");
});
