/**
 * The commands that open a browser are those of the platform, after those of $BROWSER.
 */

import { assertEquals } from "@std/assert";
import { browserCommands } from "../../../lib/native/_browser.ts";
import { eachRow } from "../../support/each_row.ts";

const HANDLER = "url.dll,FileProtocolHandler";
const TARGET = "https://as.example/?a=$&b=1";
const RUNDLL = "\\System32\\rundll32.exe";

Deno.test("browserCommands() returns the commands of the platform, on Windows by its path", () => {
  const rows = [
    ["darwin", {}, ["open", TARGET]],
    ["linux", { SystemRoot: "D:\\Windows", BROWSER: "" }, ["xdg-open", TARGET]],
    ["win32", { SystemRoot: "D:\\Windows" }, [
      `D:\\Windows${RUNDLL}`,
      HANDLER,
      TARGET,
    ]],
    ["win32", {}, [`C:\\Windows${RUNDLL}`, HANDLER, TARGET]],
    [
      "linux",
      { WSL_DISTRO_NAME: "Debian" },
      ["wslview", TARGET],
      ["/mnt/c/Windows/System32/rundll32.exe", HANDLER, TARGET],
      ["xdg-open", TARGET],
    ],
  ] as const;
  eachRow(rows, ([platform, env, ...commands]) => {
    assertEquals(browserCommands(platform, env, TARGET), [...commands]);
  });
});

Deno.test("browserCommands() begins with the commands in $BROWSER", () => {
  const rows = [
    ["firefox", ["firefox", TARGET]],
    ["/a b/firefox", ["/a b/firefox", TARGET], ["/a", "b/firefox", TARGET]],
    ["w3m::firefox", ["w3m", TARGET], ["firefox", TARGET]],
    ["a --new=%s -x", ["a", `--new=${TARGET}`, "-x"]],
  ] as const;
  eachRow(rows, ([BROWSER, ...commands]) => {
    assertEquals(
      browserCommands("linux", { BROWSER }, TARGET),
      [...commands, ["xdg-open", TARGET]],
    );
  });
  const env = { BROWSER: "C:\\firefox.exe;D:\\x.exe" };
  assertEquals(browserCommands("win32", env, TARGET).slice(0, 2), [
    ["C:\\firefox.exe", TARGET],
    ["D:\\x.exe", TARGET],
  ]);
});
