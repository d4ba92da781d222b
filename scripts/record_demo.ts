/**
 * Runs the demo, and records it as an image for README: an SVG in which each line appears
 * when it was printed, at a fourth of the speed, so that it can be read.
 */

import { runDemo } from "./demo.ts";
import { root } from "./support/deno.ts";

const ROWS = 24;
const COLUMNS = 80;
const LINE_PX = 17;
const CHARACTER_PX = 7.8;
const MARGIN_PX = 12;
const SLOWNESS = 4;

/** Lines that are there from the start, so that the image is never empty. */
const FIRST_ROWS = 12;

/** A line, and when it was printed, in seconds after the start. */
interface Line {
  readonly text: string;
  readonly at: number;
}

/** The colours of the terminal, by their codes. */
const CLASSES: Readonly<Record<string, string>> = { 2: "f", 31: "r", 32: "g" };

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** Returns a line as SVG, with its colours. */
function spans(text: string): string {
  return text.split("\x1b[0m").map((part) => {
    // deno-lint-ignore no-control-regex
    const [, before = part, code = "", inside = ""] = /^(.*?)\x1b\[(\d+)m(.*)$/
      .exec(part) ?? [];
    const coloured = inside &&
      `<tspan class="${CLASSES[code]}">${escape(inside)}</tspan>`;
    return escape(before) + coloured;
  }).join("");
}

function toSvg(lines: readonly Line[]): string {
  const width = Math.ceil(COLUMNS * CHARACTER_PX + 2 * MARGIN_PX);
  const height = ROWS * LINE_PX + 2 * MARGIN_PX;
  const texts = lines.map(({ text, at }, row) => {
    const place = `x="${MARGIN_PX}" y="${(row + 1) * LINE_PX}"`;
    if (row < FIRST_ROWS) return `<text ${place}>${spans(text)}</text>`;
    return `<text ${place} visibility="hidden">` +
      `${spans(text)}<set attributeName="visibility" to="visible" ` +
      `begin="${at.toFixed(2)}s" fill="freeze"/></text>`;
  });
  const scrolls = lines.slice(ROWS).map(({ at }, index) =>
    `<set attributeName="y" to="${-(index + 1) * LINE_PX}" ` +
    `begin="${at.toFixed(2)}s" fill="freeze"/>`
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>deno task demo: from a 401 to a 200</title>
<style>text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#ddd;white-space:pre}.f{fill:#999}.r{fill:#f77}.g{fill:#7d7}</style>
<rect width="100%" height="100%" rx="8" fill="#1b1f24"/>
<svg y="${MARGIN_PX}" height="${ROWS * LINE_PX + 4}"><svg overflow="visible">
${texts.join("\n")}
${scrolls.join("\n")}
</svg></svg>
</svg>
`;
}

const start = performance.now();
const lines: Line[] = [];
let last = 0;
const code = await runDemo([], (text) => {
  const now = (performance.now() - start) / 1000;
  for (const line of text.split("\n")) {
    // Lines that are printed at once still appear one after the other.
    last = Math.max(now * SLOWNESS, last + 0.05);
    lines.push({ text: line, at: last });
  }
}, { colour: true });
if (code !== 0) Deno.exit(code);
const svg = toSvg(lines);
await Deno.writeTextFile(new URL(".github/docs/demo.svg", root), svg);
console.log(`.github/docs/demo.svg: ${svg.length} bytes, ${last.toFixed(0)} s`);
