/** Faults that only a timeout ends: silence, and responses that never end. */

import type { Case } from "./case.ts";
import type { Play } from "./fault_server.ts";
import { type Fault, FEW, matrix } from "./matrix.ts";
import {
  chunk,
  chunkedHead,
  dripping,
  endless,
  headOf,
  thenSilence,
} from "./plays.ts";

type Kind = Omit<Fault, "name" | "play">;

const SILENT: Kind = { attempt: "timeout", timeoutMs: 80 };
const DRIPPING: Kind = { ...SILENT, timeoutMs: 250, only: FEW };

const PLAYS: [name: string, play: Play, kind: Kind][] = [
  ["accepted and silent", thenSilence(), SILENT],
  ["headers, then silence", thenSilence(headOf({}, 100)), SILENT],
  [
    "half of the headers, then silence",
    thenSilence("HTTP/1.1 200 OK\r\nContent-Ty"),
    SILENT,
  ],
  [
    "half of the body, then silence",
    thenSilence(headOf({}, 100) + '{"issuer":'),
    SILENT,
  ],
  [
    "chunked body without an end",
    thenSilence(chunkedHead() + chunk("{}")),
    SILENT,
  ],
  [
    "status 400 and half of the body, then silence",
    thenSilence(headOf({ status: "400 Bad Request" }, 100) + "{"),
    SILENT,
  ],
  [
    "a byte of the body per 100 ms for ever",
    dripping(headOf({}, 100_000), " "),
    DRIPPING,
  ],
  [
    "a byte of a header per 100 ms for ever",
    dripping("HTTP/1.1 200 OK\r\nX-Long: ", "x"),
    DRIPPING,
  ],
  [
    "endless interim responses",
    endless("", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(64)),
    { ...SILENT, attempt: ["timeout", "TypeError"] },
  ],
];

export const SILENCE_CASES: readonly Case[] = matrix(
  PLAYS.map(([name, play, kind]) => ({ name, play, ...kind })),
);
