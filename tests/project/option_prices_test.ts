/** The price of an option is that of the code that reads it, and of nothing else. */

import { assertEquals } from "@std/assert";
import { withoutOption } from "../../scripts/support/option_prices.ts";

Deno.test("withoutOption() replaces what reads an option, and nothing else", () => {
  const rows: [text: string, expected: string][] = [
    ["f(options.par);", "f((undefined));"],
    ["options.par = 1;", "options.par = 1;"],
    [
      "const { par, a } = o; f(par, { par }, x.par);",
      "const { par: _par_, a } = o; f((undefined), { par: (undefined) }, (undefined));",
    ],
    [
      "function f({ par: b = 1 }: { par?: number }) { return b; } f(b);",
      "function f({ par: _par_ }: { par?: number }) { return (1); } f(b);",
    ],
    ["const a = { par: 1, b: parse };", "const a = { par: 1, b: parse };"],
  ];
  for (const [text, expected] of rows) {
    assertEquals(withoutOption(text, "par"), expected);
  }
});
