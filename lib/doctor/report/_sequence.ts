import { escapeHtml } from "../../core/_quote.ts";
import { parseUrl } from "../../core/_url.ts";
import { describeTime, fit, type JoinedStep } from "./_text.ts";
import { STEPS } from "../_step_table.ts";
import type {
  Diagnosis,
  DiagnosisStep,
  FindingSeverity,
} from "../diagnosis.ts";

export interface Row extends JoinedStep {
  /** The number in findings. */
  readonly number: number;
  /** The severity of its worst finding. */
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

function receiverOf(
  { name, url }: DiagnosisStep,
  { target, context, steps }: Diagnosis,
): Lane {
  if (context?.source === "target") return "server";
  const isOfResource = name === "cors" &&
    (url === target ||
      steps.some((one) => one.name === "resource_metadata" && one.url === url));
  return isOfResource ? "resource" : STEPS[name].lane;
}

function partOf({ name, isExtra }: DiagnosisStep): string {
  return STEPS[name].part ??
    (isExtra ? "More checks of this diagnosis" : "Discovery");
}

/** The measures of a diagram, in pixels. */
interface Layout {
  readonly width: number;
  readonly font: number;
  readonly isNarrow: boolean;
}

const WIDE: Layout = { width: 880, font: 12, isNarrow: false };
const NARROW: Layout = { width: 328, font: 10.5, isNarrow: true };

/** The width of a fixed-width character, relative to its size. */
const CHARACTER = 0.61;

/** The usual width of a character of another font. */
const USUAL_CHARACTER = 0.54;

/** Draws an arrow with its head at the second end; only its line may be dashed. */
function arrow(
  [x1, x2]: readonly [number, number],
  y: number,
  kind: string,
): string {
  const back = x2 > x1 ? -6 : 6;
  const head = `M${x2 + back} ${y - 3.5}L${x2} ${y}L${x2 + back} ${y + 3.5}`;
  return `<path class="line ${kind}" d="M${x1} ${y}H${x2}"/>` +
    `<path class="${kind}" d="${head}"/>`;
}

interface SentRow extends Row {
  readonly from: Lane;
  readonly to: Lane;
}

interface Lanes {
  readonly lanes: readonly Lane[];
  readonly hosts: ReadonlyMap<Lane, string>;
  readonly gap: number;
  xOf(lane: Lane): number;
}

function lanesOf(
  sent: readonly SentRow[],
  { width, isNarrow }: Layout,
): Lanes {
  const lanes = LANES.filter((lane) =>
    sent.some(({ from, to }) => from === lane || to === lane)
  );
  const left = isNarrow ? 34 : 76;
  const right = width - (isNarrow ? 34 : 90);
  const gap = (right - left) / Math.max(1, lanes.length - 1);
  const hosts = new Map<Lane, string>();
  for (const { to, step } of sent) {
    const host = parseUrl(step.url)?.host;
    if (host && !hosts.has(to)) hosts.set(to, host);
  }
  const xOf = (lane: Lane) => Math.round(left + gap * lanes.indexOf(lane));
  return { lanes, hosts, gap, xOf };
}

/** Returns how many fixed-width characters fit. */
const most = (pixels: number, { font }: Layout) =>
  Math.floor(pixels / (font * CHARACTER));

function text(
  [x, y]: readonly [number, number],
  content: string,
  { kind = "", anchor = "start" } = {},
): string {
  return `<text x="${x}" y="${y}" class="${kind}" text-anchor="${anchor}">${
    escapeHtml(content)
  }</text>`;
}

/** Draws a part's heading, with a rule below it. */
function heading(part: string, y: number, { width }: Layout): string {
  return text([0, y + 10], part, { kind: "part" }) +
    `<line class="rule" x1="0" y1="${y + 16}" x2="${width}" y2="${y + 16}"/>`;
}

/** Returns a row's request, without the host that its lane names. */
function requestOf({ step, to }: SentRow, { hosts }: Lanes): string {
  const url = parseUrl(step.url);
  const host = url && url.host !== hosts.get(to) ? url.host : "";
  const path = url ? host + url.pathname + (url.search ? "?…" : "") : step.url;
  return [`${step.method} ${path}`, STEPS[step.name].purpose ?? []].flat()
    .join(" · ");
}

/** Returns a row's result: status, words, repetitions and time. */
function resultOf({ step, indices }: SentRow): string {
  const status = step.status === undefined ? [] : [`${step.status}`];
  const came = [...status, step.result].join(" ") +
    (indices.length > 1 ? ` ×${indices.length}` : "");
  return `${came} · ${describeTime(step.ms)}`;
}

/** Draws a row's number, on a mark if a finding refers to it. */
function numberOf({ number, severity }: SentRow, y: number): string {
  const pill = severity
    ? `<rect class="${severity}" x="0" y="${
      y + 1
    }" width="20" height="15" rx="7.5"/>`
    : "";
  return pill + text([10, y + 12], `${number}`, {
    kind: severity ? "number marked" : "number",
    anchor: "middle",
  });
}

function drawRow(
  row: SentRow,
  y: number,
  { lanes, layout }: { lanes: Lanes; layout: Layout },
): string {
  const { width, font, isNarrow } = layout;
  const { step, from, to } = row;
  const [x1, x2] = [lanes.xOf(from), lanes.xOf(to)];
  const kind = step.isExtra ? "extra" : "usual";
  const startX = isNarrow ? 26 : x1 + 10;
  const label = fit(requestOf(row, lanes), most(width - startX - 4, layout));
  const direction = x2 > x1 ? 1 : -1;
  const [start, end] = [x1 + 2 * direction, x2 - 2 * direction];
  const result = resultOf(row);
  const isLong = result.length * font * USUAL_CHARACTER >
    Math.abs(x2 - x1) - 12;
  // Text that is longer than its arrow continues on the right.
  const isAtEnd = direction > 0 && !isLong;
  const resultX = isAtEnd ? x2 - 10 : Math.min(x1, x2) + 10;
  const space = (width - resultX) / (font * USUAL_CHARACTER);
  return text([startX, y + 12], label, { kind: `label ${kind}` }) +
    arrow([start, end], y + 19, kind) +
    arrow([end, start], y + 40, `${kind} back`) +
    text(
      [resultX, y + 34],
      isAtEnd ? result : fit(result, Math.floor(space)),
      { kind: `came ${kind}`, anchor: isAtEnd ? "end" : "start" },
    ) +
    numberOf(row, y);
}

function drawLanes(
  { lanes, hosts, gap, xOf }: Lanes,
  { top, bottom }: { top: number; bottom: number },
  layout: Layout,
): string {
  const { isNarrow } = layout;
  return lanes.map((lane) => {
    const x = xOf(lane);
    const [long, short] = NAMES[lane];
    const name = isNarrow ? short : long;
    const host = fit(hosts.get(lane) ?? "", most(gap - 12, layout));
    return `<line class="life" x1="${x}" y1="${top}" x2="${x}" y2="${bottom}"/>` +
      `<text class="lane" x="${x}" y="${
        isNarrow ? 16 : 18
      }" text-anchor="middle">${escapeHtml(name)}</text>` +
      (isNarrow
        ? ""
        : `<text class="host" x="${x}" y="34" text-anchor="middle">${
          escapeHtml(host)
        }</text>`);
  }).join("");
}

function draw(
  rows: readonly Row[],
  diagnosis: Diagnosis,
  layout: Layout,
): string {
  const { width, font, isNarrow } = layout;
  const sent = rows.map((row): SentRow => ({
    ...row,
    from: row.step.name === "authorization" ? "browser" : "client",
    to: receiverOf(row.step, diagnosis),
  }));
  const lanes = lanesOf(sent, layout);
  const parts: string[] = [];
  const top = isNarrow ? 26 : 46;
  let y = top + 8;
  let part: string | undefined;
  for (const row of sent) {
    const rowPart = partOf(row.step);
    if (rowPart !== part) {
      y += 10;
      parts.push(heading(rowPart, y, layout));
      y += 26;
    }
    part = rowPart;
    parts.push(drawRow(row, y, { lanes, layout }));
    y += 50;
  }
  const lines = drawLanes(lanes, { top, bottom: y + 4 }, layout);
  return `<svg class="${isNarrow ? "narrow" : "wide"}" viewBox="0 0 ${width} ${
    y + 8
  }" width="${width}" height="${
    y + 8
  }" font-size="${font}" role="img" aria-label="${
    escapeHtml(`Sequence diagram of ${rows.length} requests`)
  }">${lines}${parts.join("")}</svg>`;
}

/** Returns the diagram twice: for a wide screen and for a narrow one. */
export function sequenceSvg(
  rows: readonly Row[],
  diagnosis: Diagnosis,
): string {
  return draw(rows, diagnosis, WIDE) + draw(rows, diagnosis, NARROW);
}
