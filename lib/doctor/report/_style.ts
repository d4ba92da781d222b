/** Light and dark, wide and narrow, and on paper. */

const LIGHT = `
  --page: #ffffff; --panel: #f7f8fa; --line: #dfe3e8; --text: #17202b;
  --faint: #5b6776; --error: #b42318; --warning: #a15c07; --info: #1f5fbf;
  --good: #087443; --on: #ffffff; color-scheme: light;`;

const DARK = `
  --page: #10151b; --panel: #182029; --line: #2f3a47; --text: #e6ebf1;
  --faint: #9aa7b5; --error: #ff8d80; --warning: #f5b544; --info: #86b6ff;
  --good: #4fd08d; --on: #10151b; color-scheme: dark;`;

export const STYLE = `
:root {${LIGHT}
}
@media (prefers-color-scheme: dark) { :root {${DARK}
} }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: anywhere; }
main { max-width: 944px; margin: 0 auto; padding: 40px 32px 56px; }
code, pre, .mono, svg .label { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas,
  "DejaVu Sans Mono", monospace; }
code { font-size: .92em; }
h1 { margin: 2px 0 4px; font-size: 25px; line-height: 1.25; font-weight: 650; }
h2 { margin: 44px 0 14px; padding-bottom: 8px; border-bottom: 1px solid var(--line);
  font-size: 18px; font-weight: 650; }
h2 .count { color: var(--faint); font-weight: 400; margin-left: 6px; }
p { margin: 0; }
.kind, .date { color: var(--faint); font-size: 14px; }
.verdict { margin: 22px 0 0; padding: 16px 20px; border: 1px solid var(--line);
  border-left: 5px solid var(--tone); border-radius: 8px; background: var(--panel); }
.verdict strong { display: block; font-size: 19px; color: var(--tone); margin-bottom: 2px; }
.ready, .open { --tone: var(--good); }
.needs_client, .needs_option, .warning { --tone: var(--warning); }
.broken, .unreachable, .error { --tone: var(--error); }
.info { --tone: var(--info); }
dl { display: grid; grid-template-columns: 116px minmax(0, 1fr); gap: 5px 16px; margin: 0; }
dt { color: var(--faint); }
dd { margin: 0; }
.facts { margin-top: 20px; font-size: 14px; }
.finding { border: 1px solid var(--line); border-radius: 8px; margin: 0 0 16px;
  break-inside: avoid; }
.finding > header { padding: 13px 18px 12px; border-bottom: 1px solid var(--line);
  border-left: 4px solid var(--tone); border-radius: 8px 0 0 0; }
.finding > div { padding: 14px 18px 16px; }
.finding h3 { margin: 5px 0 0; font-size: 16px; line-height: 1.4; font-weight: 600; }
.badge { display: inline-block; padding: 1px 9px; border-radius: 10px; font-size: 12px;
  font-weight: 600; background: var(--tone); color: var(--on); }
.id { color: var(--faint); font-size: 13px; margin-left: 8px; }
pre { margin: 0 0 14px; padding: 11px 14px; border-radius: 6px; background: var(--panel);
  border: 1px solid var(--line); font-size: 12.5px; line-height: 1.5; white-space: pre-wrap; }
.finding dl, .requests dl { font-size: 14px; }
.none { color: var(--faint); }
figure { margin: 0; }
figcaption { color: var(--faint); font-size: 13px; margin-top: 10px; }
svg { display: block; max-width: 100%; height: auto; font-family: system-ui, sans-serif; }
svg.narrow { display: none; margin: 0 auto; }
svg text { fill: var(--text); }
svg .lane { font-weight: 600; }
svg .host, svg .part, svg .number, svg text.extra { fill: var(--faint); }
svg .host { font-size: .92em; }
svg .part { font-weight: 600; font-size: .92em; }
svg .number { font-size: 10px; }
svg .marked { fill: var(--on); font-weight: 700; }
svg .label, svg .came { paint-order: stroke; stroke: var(--page); stroke-width: 4px;
  stroke-linejoin: round; }
svg path { fill: none; stroke: var(--text); stroke-width: 1.2; }
svg path.extra { stroke: var(--faint); }
svg .line.back { stroke-dasharray: 4 3; }
svg .life, svg .rule { stroke: var(--line); stroke-width: 1; }
svg rect { fill: var(--tone); }
.requests { list-style: none; margin: 0; padding: 0; }
.requests li { padding: 13px 0 13px 42px; border-bottom: 1px solid var(--line);
  position: relative; break-inside: avoid; }
.requests .at { position: absolute; left: 0; top: 13px; width: 28px; text-align: center;
  color: var(--faint); font-size: 13px; }
.requests .at.badge { color: var(--on); padding: 1px 0; font-size: 12px; }
.requests .came { color: var(--faint); font-size: 14px; margin-bottom: 4px; }
.requests dl { grid-template-columns: 84px minmax(0, 1fr); font-size: 13px; gap: 2px 12px; }
footer { margin-top: 36px; color: var(--faint); font-size: 13px; }
@media (max-width: 720px) {
  main { padding: 24px 16px 40px; }
  h1 { font-size: 20px; }
  svg.wide { display: none; }
  svg.narrow { display: block; }
  dl, .requests dl { grid-template-columns: minmax(0, 1fr); gap: 0; }
  dd { margin-bottom: 7px; }
  .verdict { padding: 13px 15px; }
  .finding > header, .finding > div { padding-left: 14px; padding-right: 14px; }
  .requests li { padding-left: 34px; }
}
@media print {
  :root {${LIGHT}
  }
  body { font-size: 12px; }
  main { max-width: none; padding: 0; }
  svg.wide { display: block; }
  svg.narrow { display: none; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;
