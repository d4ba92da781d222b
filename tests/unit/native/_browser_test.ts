import { assertEquals } from "@std/assert";
import { browserCommand } from "../../../lib/native/_browser.ts";

Deno.test("browserCommand() returns the command of the platform, on Windows by its path", () => {
  const handler = "url.dll,FileProtocolHandler";
  for (
    const [platform, env, command] of [
      ["darwin", {}, ["open"]],
      ["linux", { SystemRoot: "D:\\Windows" }, ["xdg-open"]],
      ["win32", { SystemRoot: "D:\\Windows" }, [
        "D:\\Windows\\System32\\rundll32.exe",
        handler,
      ]],
      ["win32", {}, ["C:\\Windows\\System32\\rundll32.exe", handler]],
    ] as const
  ) {
    assertEquals(browserCommand(platform, env), command);
  }
});
