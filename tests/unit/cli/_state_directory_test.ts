/** Sessions are where each platform keeps the state of programs. */

import { assertEquals } from "@std/assert";
import { homeOf, stateDirectory } from "../../../lib/cli/_state_directory.ts";
import { eachRow } from "../../support/each_row.ts";

Deno.test("stateDirectory() returns the directory of the platform", () => {
  const rows: [platform: string, env: Record<string, string>, path: string][] =
    [
      ["linux", {}, "/home/a/.local/state/oauth-helper"],
      ["linux", { XDG_STATE_HOME: "/s" }, "/s/oauth-helper"],
      // A relative path does not count, by the specification.
      [
        "linux",
        { XDG_STATE_HOME: "state" },
        "/home/a/.local/state/oauth-helper",
      ],
      ["freebsd", { XDG_STATE_HOME: "/s" }, "/s/oauth-helper"],
      [
        "darwin",
        { XDG_STATE_HOME: "/s" },
        "/home/a/Library/Application Support/oauth-helper",
      ],
      ["win32", { LOCALAPPDATA: "D:\\L" }, "D:\\L\\oauth-helper"],
    ];
  eachRow(rows, ([platform, env, path]) => {
    assertEquals(stateDirectory(platform, env, "/home/a"), path);
  });
  assertEquals(
    stateDirectory("win32", {}, "C:\\Users\\a"),
    "C:\\Users\\a\\AppData\\Local\\oauth-helper",
  );
});

Deno.test("homeOf() returns the home that the environment names", () => {
  assertEquals(
    homeOf("linux", { HOME: "/home/a", USERPROFILE: "x" }),
    "/home/a",
  );
  assertEquals(
    homeOf("win32", { HOME: "/home/a", USERPROFILE: "C:\\a" }),
    "C:\\a",
  );
  assertEquals(homeOf("linux", { HOME: "" }), undefined);
});
