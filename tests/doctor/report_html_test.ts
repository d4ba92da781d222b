/** The report as a page: what is in it, and what is not. */

import { REPOSITORY } from "../../lib/doctor/report/_repository.ts";
import { findingsPage } from "../../lib/doctor/report/_text.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { OAuthClientError } from "../../mod.ts";
import { reportLines } from "../../lib/cli/commands/_doctor_report.ts";
import {
  diagnose,
  type Diagnosis,
  DiagnosisVerdict,
  reportHtml,
} from "../../lib/doctor/mod.ts";
import { server } from "./_changes.ts";
import { signedIn } from "./_sign_in_world.ts";
import { SNAPSHOTS } from "./_snapshots.ts";
import { diagnosed, remote, TARGET } from "./_world.ts";

/** Fails if a page could run, load or lead to something. */
function assertPassive(html: string) {
  assertNotMatch(
    html,
    /<(script|link|a|img|iframe|object|embed|base|form|use|image|foreignObject)\b/i,
  );
  assertNotMatch(html, /<[^>]*\s(on\w+|href|src|srcset|action|style)\s*=/i);
  assertNotMatch(html, /@import|url\(|xlink|xmlns/i);
  assertMatch(html, /content="default-src 'none'; style-src 'unsafe-inline'"/);
}

/** Writes a page, which is passive and well-formed. */
function pageOf(diagnosis: Diagnosis): string {
  const html = reportHtml(diagnosis);
  assertPassive(html);
  assertNested(html);
  return html;
}

/** Fails unless every element that needs an end has one, in order. */
function assertNested(html: string) {
  const open: string[] = [];
  for (
    const [, end, name = "", rest] of html.matchAll(/<(\/?)([a-z]\w*)([^>]*)>/g)
  ) {
    const isVoid = ["meta"].includes(name) || rest?.endsWith("/");
    if (end) assertEquals(open.pop(), name);
    else if (!isVoid) open.push(name);
  }
  assertEquals(open, []);
}

Deno.test("reportHtml() has the word of the terminal for each verdict", async () => {
  const diagnosis = await diagnosed();
  for (const verdict of Object.values(DiagnosisVerdict)) {
    const changed = { ...diagnosis, verdict };
    const [, line = ""] = reportLines(changed, { colour: false });
    const [word] = line.split(":");
    assertStringIncludes(pageOf(changed), `<strong>${word}</strong>`);
  }
});

Deno.test("reportHtml() shows the verdict, the findings and each request", async () => {
  const diagnosis = await signedIn(
    server({ code_challenge_methods_supported: undefined }),
  );
  const html = pageOf(diagnosis);
  assertStringIncludes(html, '<section class="verdict needs_option">');
  assertStringIncludes(html, "code_challenge_methods_supported&#34; is absent");
  assertStringIncludes(html, "RFC 7636, section 4.2");
  assertStringIncludes(html, "<code>assumePkce: true</code>");
  assertStringIncludes(html, `<p>${findingsPage(REPOSITORY)[0]}`);
  // The list below the diagram has only what the diagram does not show.
  const [, list = ""] = html.split('<ol class="requests">');
  for (const { sent, received, url, standard } of diagnosis.steps) {
    if (Object.keys({ ...sent, ...received }).length === 0) continue;
    assertStringIncludes(list, url);
    assertStringIncludes(list, standard);
  }
  assert(!list.includes("/.well-known/oauth-protected-resource"));
  const [wide = "", narrow = ""] = html.match(/<svg.*?<\/svg>/gs) ?? [];
  for (const svg of [wide, narrow]) {
    for (
      const word of ["Browser", "Resource", "401 challenge", "POST /as/token"]
    ) {
      assertStringIncludes(svg, word);
    }
    // The two revocations are one line.
    const rows = svg.match(/class="line (usual|extra)"/g) ?? [];
    assertEquals(rows.length, diagnosis.steps.length - 1);
    assertStringIncludes(svg, "200 revoked ×2");
  }
  for (const token of diagnosis.model.tokens.issued) {
    assert(!html.includes(token), token);
  }
});

Deno.test("reportHtml() shows options and hints as the library has them", async () => {
  const html = pageOf(
    await diagnosed(server({ code_challenge_methods_supported: undefined })),
  );
  assertStringIncludes(html, "<code>assumePkce: true</code>");
  assertStringIncludes(
    html,
    "set assumePkce: true if the server is known to support PKCE",
  );
});

Deno.test("reportHtml() shows no query of the target", async () => {
  const diagnosis = await diagnosed(undefined, {}, "/mcp?api_key=abc123");
  const html = reportHtml(diagnosis);
  assert(!html.includes("abc123"));
  assertStringIncludes(html, `${diagnosis.model.origin}/mcp?…`);
});

Deno.test("reportHtml() shows no value of the target's query that a server repeats", async () => {
  const long = "k3y with/spaces&more".repeat(9);
  const query = new URLSearchParams({ key: long, pin: "k3y4", page: "2" });
  const values = [long, "k3y4", encodeURIComponent(long), `${query}`];
  const diagnosis = await diagnosed(
    ({ resource, resourceMetadata }) => {
      resource.headers["WWW-Authenticate"] += `, error="${values.join(" ")}"`;
      resourceMetadata.scopes_supported = [long, "k3y4"];
      resourceMetadata.resource = `https://x.example/${values[2]}`;
    },
    {},
    `/mcp?${query}&k3y5`,
  );
  assertMatch(JSON.stringify(diagnosis), /k3y4/);
  const html = reportHtml(diagnosis);
  assertNotMatch(html, /k3y/);
  assertStringIncludes(html, "RFC 9728, sections 3.3 and 7.3");
});

Deno.test("reportHtml() escapes everything that servers send", async () => {
  const evil = "\"'><script>alert(1)</script><a href=x>`x`</a>&amp;";
  const diagnosis = await signedIn((model) => {
    const { resourceMetadata, serverMetadata, changes, resource } = model;
    resourceMetadata.scopes_supported = [evil, "read"];
    serverMetadata.grant_types_supported = ["authorization_code", evil];
    serverMetadata.code_challenge_methods_supported = ["S256", evil];
    resource.headers["WWW-Authenticate"] += `, error="<b>${"x".repeat(9)}"`;
    changes["/as/register"] = (members) => {
      members.client_name = evil;
      members[evil] = evil;
      members.grant_types = [evil];
    };
    changes["/as/token dead"] = (members) => members.error_description = evil;
  });
  const strange: Diagnosis = {
    ...diagnosis,
    target: `https://${evil}`,
    verdict: evil as never,
    findings: diagnosis.findings.map((finding) => ({
      ...finding,
      ...{ id: evil, message: evil, excerpt: evil, url: evil },
      ...{ severity: evil as never },
    })),
    steps: diagnosis.steps.map((step) => ({
      ...step,
      ...{ url: evil, result: evil, method: evil },
    })),
  };
  for (const one of [diagnosis, strange]) {
    assertStringIncludes(pageOf(one), "&#60;");
  }
});

Deno.test("reportHtml() writes a page for each verdict", async () => {
  const verdicts = new Set<string>();
  for (const change of Object.values(SNAPSHOTS)) {
    const diagnosis = await diagnose(TARGET, { fetch: remote(change) });
    pageOf(diagnosis);
    verdicts.add(diagnosis.verdict);
  }
  assertEquals(verdicts.size, 4);
  const error = assertThrows(
    () => reportHtml(undefined as never),
    OAuthClientError,
    "diagnosis",
  );
  assertEquals(error.code, "invalid_argument");
});
