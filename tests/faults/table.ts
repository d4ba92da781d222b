/** The whole table of faults. */

import type { Case } from "./case.ts";
import { ABORT_CASES } from "./table_aborts.ts";
import { URL_CASES } from "./table_urls.ts";
import { BODY_CASES } from "./table_bodies.ts";
import { OPTION_CASES } from "./table_options.ts";
import { REDIRECT_CASES } from "./table_redirects.ts";
import { RESPONSE_CASES } from "./table_responses.ts";
import { SILENCE_CASES } from "./table_silence.ts";
import { SOCKET_CASES } from "./table_sockets.ts";

export const TABLES = {
  silence: SILENCE_CASES,
  sockets: SOCKET_CASES,
  responses: RESPONSE_CASES,
  bodies: BODY_CASES,
  redirects: REDIRECT_CASES,
  urls: URL_CASES,
  aborts: ABORT_CASES,
  options: OPTION_CASES,
} as const satisfies Record<string, readonly Case[]>;

export const TABLE: readonly Case[] = Object.values(TABLES).flat();
