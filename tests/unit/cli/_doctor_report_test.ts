/**
 * The report shows times that a person can read, in lines of the width of a terminal.
 */

import { assertEquals } from "@std/assert";
import {
  findingLines,
  reportLines,
  wrap,
} from "../../../lib/cli/commands/_doctor_report.ts";
import { findingsPage } from "../../../lib/doctor/report/_text.ts";
import type { DiagnosisStep } from "../../../lib/doctor/diagnosis.ts";
import { eachRow } from "../../support/each_row.ts";

Deno.test("reportLines() shows up to 999 ms, and seconds with one digit", () => {
  const rows: [ms: number, text: string][] = [
    [0, "0 ms"],
    [999.4, "999 ms"],
    [999.5, "1.0 s"],
    [1_000, "1.0 s"],
    [12_345, "12.3 s"],
  ];
  eachRow(rows, ([ms, text]) => {
    const step: DiagnosisStep = {
      name: "resource",
      method: "GET",
      url: "https://api.example/mcp",
      isExtra: false,
      ms,
      result: "challenge",
      headers: {},
      standard: "RFC 9728, section 5",
    };
    const lines = reportLines({
      target: step.url,
      date: "2026-01-01T00:00:00.000Z",
      verdict: "ready",
      summary: "Fine.",
      steps: [step],
      findings: [],
    }, { colour: false });
    assertEquals(lines.at(-1)?.slice(-text.length - 1), ` ${text}`);
  });
});

Deno.test("findingLines() writes hints in words of the command, or of the library if only that has the option", () => {
  const lines = findingLines([{
    id: "no_401",
    severity: "warning",
    message: "The status without a token is 404.",
    standard: "RFC 6750, section 3",
    operator: "Respond with 401.",
    hints: [
      { option: "serverMetadata", text: "set serverMetadata" },
      { option: "serverMetadata", text: "set serverMetadata from its docs" },
      { option: "tokenRequired", value: true, text: "set tokenRequired: true" },
    ],
  }], { colour: false });
  assertEquals(lines.filter((line) => line.startsWith("    Hint")), [
    "    Hint      use --server-metadata with what its docs say",
    "    Hint      with this library: set tokenRequired: true",
  ]);
});

Deno.test("wrap() breaks lines at spaces, and a longer word at the width", () => {
  const word = "x".repeat(50);
  const rows: [text: string, lines: string[]][] = [
    ["", []],
    [`${word} ${word}`, [word, word]],
    [`a ${"y".repeat(81)} b`, ["a", "y".repeat(80), "y b"]],
    ["a\u001b\n\t b", ["a b"]],
  ];
  for (const [text, lines] of rows) assertEquals(wrap(text, ""), lines);
  assertEquals(wrap(`${word} ${word}`, "  ", "- "), [`- ${word}`, `  ${word}`]);
});

Deno.test("findingsPage() names the page in the repository if that is known, and no file", () => {
  const repository = "https://code.example/oauth-helper/client";
  assertEquals(findingsPage(repository), [
    "The impact of each finding, by its id:",
    `${repository}/blob/HEAD/.github/docs/findings.md`,
  ]);
  assertEquals(/\.md/.test(`${findingsPage(undefined)}`), false);
});
