/** Bodies that are meant to fill the memory of the client. */

import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { OperationName } from "./case.ts";
import type { Play } from "./fault_server.ts";
import {
  chunk,
  chunkedHead,
  documentFor,
  endless,
  headOf,
  respond,
} from "./plays.ts";

/** Bytes by which no body may make the memory grow. */
export const MEMORY_LIMIT = 64 * 1024 * 1024;

export interface MemoryCase {
  readonly fault: string;
  readonly play: Play;
  /** Bytes by which the memory may grow; `MEMORY_LIMIT` when absent. */
  readonly limit?: number;
}

export const MEMORY_OPERATIONS: readonly OperationName[] = [
  "fetchAuthorizationServerMetadata",
  "fetchToken",
];

const SIZE = 400_000_000;
const PIECE = " ".repeat(65_536);

/** Writes so many bytes after a head, as fast as they are taken. */
function long(head: string, piece = PIECE): Play {
  return async (stage) => {
    await stage.write(head);
    for (let sent = 0; sent < SIZE && stage.isOpen; sent += piece.length) {
      await stage.write(piece);
    }
    stage.end();
  };
}

const made = new Map<string, Uint8Array>();
function once(name: string, make: () => Uint8Array): Uint8Array {
  const bytes = made.get(name) ?? new Uint8Array(make());
  made.set(name, bytes);
  return bytes;
}

const spaces = () => new Uint8Array(SIZE).fill(32);
const gzipBomb = () => once("gzip", () => gzipSync(spaces()));

function bomb(coding: string, make: () => Uint8Array, status = "200 OK"): Play {
  return (stage) =>
    respond({ status, headers: { "Content-Encoding": coding }, body: make() })(
      stage,
    );
}

/** The cases; the first is what the others are compared with. */
export const MEMORY_CASES: readonly MemoryCase[] = [
  { fault: "a good response", play: respond() },
  { fault: "400 MB with their length", play: long(headOf({}, SIZE)) },
  { fault: "400 MB behind a length of 100", play: long(headOf({}, 100)) },
  {
    fault: "400 MB in chunks behind a length of 100",
    play: long(
      chunkedHead({ headers: { "Content-Length": "100" } }),
      chunk(PIECE),
    ),
  },
  { fault: "400 MB until the end", play: long(headOf({})) },
  { fault: "400 MB in chunks", play: long(chunkedHead(), chunk(PIECE)) },
  {
    fault: "400 MB of status 404",
    play: long(headOf({ status: "404 No" })),
  },
  {
    fault: "400 MB behind a redirect",
    play: (stage) =>
      stage.request.path.endsWith("?moved") ? respond()(stage) : long(headOf({
        status: "302 Moved",
        headers: { Location: `${stage.request.path}?moved` },
      }))(stage),
  },
  { fault: "endless spaces", play: endless(headOf({}), PIECE) },
  {
    // Node makes a handful of objects for each chunk, a million chunks an attempt,
    // and collects them when it sees fit.
    fault: "1 MB, a byte in each chunk",
    limit: 2 * MEMORY_LIMIT,
    play: endless(chunkedHead(), chunk(" ").repeat(8_192)),
  },
  {
    fault: "headers for ever",
    play: endless("HTTP/1.1 200 OK\r\n", `X-Long: ${"x".repeat(8_000)}\r\n`),
  },
  { fault: "gzip bomb of 400 MB", play: bomb("gzip", gzipBomb) },
  {
    fault: "gzip bomb of 400 MB, status 500",
    play: bomb("gzip", gzipBomb, "500 No"),
  },
  {
    fault: "gzip bomb of 400 MB in gzip",
    play: bomb(
      "gzip, gzip",
      () => once("twice", () => gzipSync(gzipBomb())),
    ),
  },
  {
    fault: "brotli bomb of 400 MB",
    play: bomb("br", () =>
      once("br", () =>
        brotliCompressSync(spaces(), {
          params: { [constants.BROTLI_PARAM_QUALITY]: 3 },
        }))),
  },
  {
    fault: "1 MB of empty arrays",
    play: respond((stage) => ({
      body: JSON.stringify({
        x: Array(340_000).fill([]),
        ...documentFor(stage),
      }),
    })),
  },
];
