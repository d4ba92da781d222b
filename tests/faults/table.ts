/** The whole table of faults. */

import type { ICase } from "./case.ts";
import { ABORT_CASES } from "./table_aborts.ts";
import { ADDRESS_CASES } from "./table_addresses.ts";
import { ANSWER_CASES } from "./table_answers.ts";
import { BODY_CASES } from "./table_bodies.ts";
import { FETCH_CASES } from "./table_fetch.ts";
import { METADATA_CASES } from "./table_metadata.ts";
import { REDIRECT_CASES } from "./table_redirects.ts";
import { REPLY_CASES } from "./table_replies.ts";
import { SOCKET_CASES } from "./table_sockets.ts";

/** Every case. */
export const TABLE: readonly ICase[] = [
  ...SOCKET_CASES,
  ...REPLY_CASES,
  ...BODY_CASES,
  ...REDIRECT_CASES,
  ...METADATA_CASES,
  ...ANSWER_CASES,
  ...ADDRESS_CASES,
  ...ABORT_CASES,
  ...FETCH_CASES,
];
