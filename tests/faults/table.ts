/** The whole table of faults. */

import type { ICase } from "./case.ts";
import { ABORT_CASES } from "./table_aborts.ts";
import { URL_CASES } from "./table_urls.ts";
import { BODY_CASES } from "./table_bodies.ts";
import { OPTION_CASES } from "./table_options.ts";
import { MEMBER_CASES } from "./table_members.ts";
import { REDIRECT_CASES } from "./table_redirects.ts";
import { RESPONSE_CASES } from "./table_responses.ts";
import { SOCKET_CASES } from "./table_sockets.ts";

/** Every case. */
export const TABLE: readonly ICase[] = [
  ...SOCKET_CASES,
  ...RESPONSE_CASES,
  ...BODY_CASES,
  ...REDIRECT_CASES,
  ...MEMBER_CASES,
  ...URL_CASES,
  ...ABORT_CASES,
  ...OPTION_CASES,
];
