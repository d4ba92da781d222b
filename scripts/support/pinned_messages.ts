/**
 * The messages in `tests/messages/`: a file for each area, with a section for each file
 * of tests. A section has what its tests pin, in the order of the tests, each message
 * once, and a blank line between two tests.
 */
import { root } from "./deno.ts";

/** What a test has pinned, as `tests/support/time_limit.ts` notes it; nothing if it failed or was left out. */
export interface PinningTest {
  /** Such as `tests/unit/core/scopes_test.ts:3`. */
  readonly place: string;
  readonly name: string;
  readonly messages?: readonly string[];
}

type Sections = Map<string, string>;

const FOLDER = new URL("tests/messages/", root);
const FILE = /^tests\/(?:unit\/)?([^/]+)\/[^:]*_test\.ts/;

const fileOf = ({ place }: PinningTest) => FILE.exec(place)?.[0] ?? "";

const areaOf = (file: string) => FILE.exec(file)?.[1] ?? "";

export function parseSections(text: string): Sections {
  const sections: Sections = new Map();
  let file = "";
  for (const line of text.split(/\r?\n/)) {
    if (FILE.test(line)) sections.set(file = line, "");
    else sections.set(file, `${sections.get(file) ?? ""}${line}\n`);
  }
  return new Map(
    [...sections].map((
      [file, lines],
    ) => [file, lines.replace(/^\n|\n+$/g, "")]),
  );
}

export function formatSections(sections: Sections): string {
  return [...sections].filter(([, lines]) => lines).sort()
    .map(([file, lines]) => `${file}\n\n${lines}\n`).join("\n");
}

/** A message is one line. */
const linesOf = ({ messages = [] }: PinningTest) =>
  messages.map((one) => one.replaceAll("\n", "\\n"));

/**
 * Returns the lines of a section. Tests run in any order, and several may be defined in
 * one line; each message is there for the first of them.
 */
function sectionOf(tests: readonly PinningTest[]): string {
  const orderOf = ({ place, name }: PinningTest) =>
    `${place.replace(/.*:/, "").padStart(9)} ${name}`;
  const ordered = tests.map((test) => [orderOf(test), linesOf(test)] as const)
    .sort(([a], [b]) => a < b ? -1 : 1);
  const known = new Set<string>();
  return ordered.map(([, lines]) =>
    lines.filter((line) => !known.has(line) && known.add(line)).join("\n")
  ).filter(Boolean).join("\n\n");
}

/**
 * Returns the sections after these tests. If some tests of a file have not run, the
 * messages of others are only added.
 */
export function sectionsAfter(
  before: Sections,
  tests: readonly PinningTest[],
  isPart: boolean,
): Sections {
  const after: Sections = new Map(before);
  for (const [file, ofFile] of Map.groupBy(tests, fileOf)) {
    if (!isPart && ofFile.every(({ messages }) => messages)) {
      after.set(file, sectionOf(ofFile));
      continue;
    }
    const known = new Set(before.get(file)?.split("\n"));
    const added = ofFile.flatMap(linesOf).filter((one) => !known.has(one));
    if (added.length > 0) {
      after.set(file, [before.get(file) ?? "", ...added].join("\n"));
    }
  }
  return after;
}

/** Returns a line for each message that is missing or additional; all if the order differs. */
function differences(before = "", after = ""): string[] {
  const [old, now] = [before, after].map((one) => one.split("\n"));
  const [missing, added] = [[old, now], [now, old]].map(([some, others]) =>
    some!.filter((one) => one && !others!.includes(one))
  );
  if (!missing!.length && !added!.length) return ["in this order:", ...now!];
  return [
    ...missing!.map((one) => `- ${one}`),
    ...added!.map((one) => `+ ${one}`),
  ];
}

/**
 * Compares the messages of tests with the files, or updates these; returns an exit code.
 *
 * @param areAll Whether no other file has tests that pin messages.
 * @param isPart Whether some tests of these files may not have run.
 */
export async function compareMessages(
  tests: readonly PinningTest[],
  areAll: boolean,
  isPart: boolean,
  update: boolean,
): Promise<number> {
  const byArea = Map.groupBy(tests, (test) => areaOf(fileOf(test)));
  for await (const { name } of Deno.readDir(FOLDER)) {
    const area = name.replace(".txt", "");
    if (areAll && !isPart && !byArea.has(area)) byArea.set(area, []);
  }
  let code = 0;
  for (const [area, ofArea] of [...byArea].sort()) {
    const file = new URL(`${area}.txt`, FOLDER);
    const text = await Deno.readTextFile(file).catch(() => "");
    const before = parseSections(text);
    const ran = new Set(ofArea.map(fileOf));
    const known = areAll && !isPart
      ? new Map([...before].filter(([file]) => ran.has(file)))
      : before;
    const after = sectionsAfter(known, ofArea, isPart);
    const expected = formatSections(after);
    if (formatSections(before) === expected) continue;
    if (update) {
      await (expected ? Deno.writeTextFile(file, expected) : Deno.remove(file));
      continue;
    }
    code = 1;
    console.error(`\nMessages other than in tests/messages/${area}.txt:`);
    for (const name of new Set([...before.keys(), ...after.keys()])) {
      const [old = "", now = ""] = [before.get(name), after.get(name)];
      if (old === now) continue;
      console.error([name, ...differences(old, now)].join("\n"));
    }
  }
  if (code) {
    console.error("\nIf that is right: deno task test --update-messages");
  }
  return code;
}
