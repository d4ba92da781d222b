/** A popup counts as closed only where no page can have cut it off. */

import { assertEquals } from "@std/assert";
import {
  createClosedCheck,
  LOOK_MS,
} from "../../../lib/browser/_closed_popup.ts";

/** When each thing begins, in milliseconds; it does not where there is no time. */
interface History {
  leftBlank?: number;
  closed?: number;
  lostFocus?: number;
  hadFocusAgain?: number;
}

const CASES: [name: string, history: History, noticed: number | undefined][] = [
  ["is open", { leftBlank: 200, lostFocus: 0 }, undefined],
  [
    "was closed by a user who is back",
    { leftBlank: 200, lostFocus: 0, closed: 5_000, hadFocusAgain: 5_000 },
    6_000,
  ],
  [
    "was cut off by its first page, and has the focus",
    { leftBlank: 200, closed: 200, lostFocus: 0 },
    undefined,
  ],
  [
    "was cut off, and left by the user for the page",
    { leftBlank: 200, closed: 200, lostFocus: 0, hadFocusAgain: 9_000 },
    10_000,
  ],
  [
    "was left by the user for the page, and is open",
    { leftBlank: 200, lostFocus: 0, hadFocusAgain: 3_000 },
    undefined,
  ],
  [
    "was left by the user for the page, and closed later",
    { leftBlank: 200, lostFocus: 0, hadFocusAgain: 3_000, closed: 8_000 },
    9_000,
  ],
  [
    "was cut off by its first page beside a page with the focus",
    { leftBlank: 200, closed: 200 },
    undefined,
  ],
  [
    "was cut off soon after its first page",
    { leftBlank: 200, closed: 600 },
    undefined,
  ],
  [
    "was closed beside a page with the focus",
    { leftBlank: 200, closed: 3_000 },
    4_000,
  ],
];

for (const [name, history, noticed] of CASES) {
  Deno.test(`createClosedCheck() ${noticed === undefined ? "believes no" : "notices a"} popup that ${name}`, () => {
    const isClosedByUser = createClosedCheck();
    const hasBegun = (time: number | undefined, now: number) =>
      time !== undefined && now >= time;
    let first: number | undefined;
    for (let now = 0; now <= 20_000; now += LOOK_MS) {
      const isClosed = hasBegun(history.closed, now);
      const isNoticed = isClosedByUser({
        now,
        isClosed,
        isBlank: !isClosed && !hasBegun(history.leftBlank, now),
        hasFocus: !hasBegun(history.lostFocus, now) ||
          hasBegun(history.hadFocusAgain, now),
      });
      if (isNoticed) first ??= now;
    }
    assertEquals(first, noticed);
  });
}

Deno.test("createClosedCheck() starts again when the focus is lost once more", () => {
  const isClosedByUser = createClosedCheck();
  const look = (now: number, hasFocus: boolean) =>
    isClosedByUser({ now, isClosed: true, isBlank: false, hasFocus });
  assertEquals(look(0, false), false);
  assertEquals(look(100, true), false);
  assertEquals(look(1_000, false), false);
  assertEquals(look(1_200, true), false);
  assertEquals(look(2_100, true), false);
  assertEquals(look(2_200, true), true);
});
