/** The manual of the command has what the program has. */
import { assert, assertEquals } from "@std/assert";
import { ExitCode } from "../../lib/cli/_failure.ts";
import { homeOf, stateDirectory } from "../../lib/cli/_state_directory.ts";
import { optionsOf } from "../../lib/cli/_options.ts";
import {
  COMMANDS,
  optionRows,
  SHARED,
  SIGN_IN,
} from "../../scripts/command_manual.ts";
import { pageAt, rowsOf, sectionOf } from "../support/markdown.ts";

const PAGE = pageAt("command.md");

const SHARED_ROWS = rowsOf(sectionOf(PAGE, `## ${SHARED}`));

for (const command of COMMANDS) {
  Deno.test(`command.md has the options of ${command}`, () => {
    const section = sectionOf(PAGE, `## ${command}`);
    assert(section.includes(`oauth-helper ${command} `));
    assertEquals(rowsOf(section), optionRows(command));
    const shared = SHARED_ROWS.filter(([, , others]) =>
      SIGN_IN.includes(command) || others?.includes(`\`${command}\``)
    );
    const names = [...rowsOf(section), ...shared].map(([option]) =>
      /--([\w-]+)/.exec(option ?? "")?.[1]
    );
    assertEquals(names.toSorted(), Object.keys(optionsOf(command)).toSorted());
  });
}

Deno.test("command.md has the shared options", () => {
  assertEquals(SHARED_ROWS, optionRows(SHARED));
});

Deno.test("command.md has the exit codes", () => {
  const codes = rowsOf(sectionOf(PAGE, "## Exit codes")).map(([code]) => code);
  const expected = Object.values(ExitCode).map(String);
  // SIGINT is 2.
  assertEquals(codes, [...expected, String(128 + 2)]);
});

Deno.test("command.md has the directories of the sessions", () => {
  const section = sectionOf(PAGE, "## Files");
  const [home, state, local] = ["~", "/state", "C:\\Local"];
  const places = [
    stateDirectory("linux", { XDG_STATE_HOME: state }, home)
      .replace(state, "$XDG_STATE_HOME"),
    stateDirectory("linux", {}, home),
    stateDirectory("darwin", {}, home),
    stateDirectory("win32", { LOCALAPPDATA: local }, home)
      .replace(local, "%LOCALAPPDATA%"),
  ];
  for (const place of places) assert(section.includes(`\`${place}\``), place);
});

Deno.test("command.md has the variables that name a directory", () => {
  const section = sectionOf(PAGE, "## Environment");
  assertEquals(homeOf("linux", { HOME: "/home/ada" }), "/home/ada");
  assertEquals(homeOf("win32", { USERPROFILE: "C:\\ada" }), "C:\\ada");
  const names = ["HOME", "USERPROFILE", "XDG_STATE_HOME", "LOCALAPPDATA"];
  for (const name of [...names, "BROWSER", "NO_COLOR"]) {
    assert(section.includes(`\`${name}\``), name);
  }
});
