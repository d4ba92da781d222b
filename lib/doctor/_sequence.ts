/** A sequence diagram of the requests of a diagnosis, as SVG. */

import { escapeHtml } from "../core/_quote.ts";
import { parseUrl } from "../core/_url.ts";
import { describeTime, fit, type IJoinedStep } from "./_report_text.ts";
import { STEPS } from "./_step_table.ts";
import type {
  FindingSeverity,
  IDiagnosis,
  IDiagnosisStep,
} from "./diagnosis.ts";

/** A request in the diagram. */
export interface IRow extends IJoinedStep {
  /** The number by which findings refer to it. */
  readonly number: number;
  /** The severity of the worst finding that it shows. */
  readonly severity?: FindingSeverity | undefined;
}

/** The participants, from left to right. */
const LANES = ["client", "browser", "resource", "server"] as const;
type Lane = typeof LANES[number];

const NAMES: Record<Lane, [long: string, short: string]> = {
  client: ["This diagnosis", "Diagnosis"],
  browser: ["Browser of the user", "Browser"],
  resource: ["Resource", "Resource"],
  server: ["Authorization server", "Server"],
};

/** Returns who receives a request. */
function receiverOf(
  { name, url }: IDiagnosisStep,
  { target, context, steps }: IDiagnosis,
): Lane {
  if (context?.source === "target") return "server";
  const isOfResource = name === "cors" &&
    (url === target ||
      steps.some((one) => one.name === "resource_metadata" && one.url === url));
  return isOfResource ? "resource" : STEPS[name].lane;
}

/** Returns the heading of the part that a request belongs to. */
function partOf({ name, isExtra }: IDiagnosisStep): string {
  return STEPS[name].part ??
    (isExtra ? "Further checks of this diagnosis" : "Discovery");
}

/** The measures of a diagram, in pixels. */
interface ILayout {
  readonly width: number;
  readonly font: number;
  readonly isNarrow: boolean;
}

const WIDE: ILayout = { width: 880, font: 12, isNarrow: false };
const NARROW: ILayout = { width: 328, font: 10.5, isNarrow: true };

/** The width of a character of a font of fixed width, in parts of its size. */
const CHARACTER = 0.61;

/** The usual width of a character of another font. */
const USUAL_CHARACTER = 0.54;

function draw(
  rows: readonly IRow[],
  diagnosis: IDiagnosis,
  { width, font, isNarrow }: ILayout,
): string {
  const sent = rows.map((row) => ({
    ...row,
    from: row.step.name === "authorization"
      ? "browser" as const
      : "client" as const,
    to: receiverOf(row.step, diagnosis),
  }));
  const lanes = LANES.filter((lane) =>
    sent.some(({ from, to }) => from === lane || to === lane)
  );
  const left = isNarrow ? 34 : 76;
  const right = width - (isNarrow ? 34 : 90);
  const gap = (right - left) / Math.max(1, lanes.length - 1);
  const xOf = (lane: Lane) => Math.round(left + gap * lanes.indexOf(lane));
  const hosts = new Map<Lane, string>();
  for (const { to, step } of sent) {
    const host = parseUrl(step.url)?.host;
    if (host && !hosts.has(to)) hosts.set(to, host);
  }
  const parts: string[] = [];
  const text = (
    x: number,
    y: number,
    content: string,
    { kind = "", anchor = "start" } = {},
  ) =>
    parts.push(
      `<text x="${x}" y="${y}" class="${kind}" text-anchor="${anchor}">${
        escapeHtml(content)
      }</text>`,
    );
  const most = (pixels: number) => Math.floor(pixels / (font * CHARACTER));
  const top = isNarrow ? 26 : 46;
  let y = top + 8;
  for (const [index, row] of sent.entries()) {
    const { step, indices, from, to, number, severity } = row;
    const part = partOf(step);
    const before = sent[index - 1];
    if (!before || partOf(before.step) !== part) {
      y += 10;
      text(0, y + 10, part, { kind: "part" });
      parts.push(
        `<line class="rule" x1="0" y1="${y + 16}" x2="${width}" y2="${
          y + 16
        }"/>`,
      );
      y += 26;
    }
    const [x1, x2] = [xOf(from), xOf(to)];
    const kind = step.isExtra ? "extra" : "usual";
    const url = parseUrl(step.url);
    const host = url && url.host !== hosts.get(to) ? url.host : "";
    const path = url
      ? host + url.pathname + (url.search ? "?…" : "")
      : step.url;
    const startX = isNarrow ? 26 : x1 + 10;
    const label = fit(
      [`${step.method} ${path}`, STEPS[step.name].purpose ?? []].flat().join(
        " · ",
      ),
      most(width - startX - 4),
    );
    text(startX, y + 12, label, { kind: `label ${kind}` });
    const status = step.status === undefined ? [] : [`${step.status}`];
    const came = [...status, step.result].join(" ") +
      (indices.length > 1 ? ` ×${indices.length}` : "");
    const direction = x2 > x1 ? 1 : -1;
    const [start, end] = [x1 + 2 * direction, x2 - 2 * direction];
    parts.push(
      arrow(start, end, y + 19, kind),
      arrow(end, start, y + 40, `${kind} back`),
    );
    const reached = `${came} · ${describeTime(step.ms)}`;
    const isLong = reached.length * font * USUAL_CHARACTER >
      Math.abs(x2 - x1) - 12;
    // Text that is longer than its arrow continues on the right.
    const isAtEnd = direction > 0 && !isLong;
    const reachedX = isAtEnd ? x2 - 10 : Math.min(x1, x2) + 10;
    const space = (width - reachedX) / (font * USUAL_CHARACTER);
    text(
      reachedX,
      y + 34,
      isAtEnd ? reached : fit(reached, Math.floor(space)),
      { kind: `came ${kind}`, anchor: isAtEnd ? "end" : "start" },
    );
    const pill = severity
      ? `<rect class="${severity}" x="0" y="${
        y + 1
      }" width="20" height="15" rx="7.5"/>`
      : "";
    parts.push(pill);
    text(10, y + 12, `${number}`, {
      kind: severity ? "number marked" : "number",
      anchor: "middle",
    });
    y += 50;
  }
  const lines = lanes.map((lane) => {
    const x = xOf(lane);
    const [long, short] = NAMES[lane];
    const name = isNarrow ? short : long;
    const host = fit(hosts.get(lane) ?? "", most(gap - 12));
    return `<line class="life" x1="${x}" y1="${top}" x2="${x}" y2="${
      y + 4
    }"/>` +
      `<text class="lane" x="${x}" y="${
        isNarrow ? 16 : 18
      }" text-anchor="middle">${escapeHtml(name)}</text>` +
      (isNarrow
        ? ""
        : `<text class="host" x="${x}" y="34" text-anchor="middle">${
          escapeHtml(host)
        }</text>`);
  });
  return `<svg class="${isNarrow ? "narrow" : "wide"}" viewBox="0 0 ${width} ${
    y + 8
  }" width="${width}" height="${
    y + 8
  }" font-size="${font}" role="img" aria-label="${
    escapeHtml(`Sequence diagram of ${rows.length} requests`)
  }">${lines.join("")}${parts.join("")}</svg>`;
}

/** Draws an arrow with its head at the second end; only its line may be dashed. */
function arrow(x1: number, x2: number, y: number, kind: string): string {
  const back = x2 > x1 ? -6 : 6;
  const head = `M${x2 + back} ${y - 3.5}L${x2} ${y}L${x2 + back} ${y + 3.5}`;
  return `<path class="line ${kind}" d="M${x1} ${y}H${x2}"/>` +
    `<path class="${kind}" d="${head}"/>`;
}

/** Returns the diagram twice: for a wide screen and for a narrow one. */
export function sequenceSvg(
  rows: readonly IRow[],
  diagnosis: IDiagnosis,
): string {
  return draw(rows, diagnosis, WIDE) + draw(rows, diagnosis, NARROW);
}
