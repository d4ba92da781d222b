/** The whole table of faults. */

import type { ICase } from "./case.ts";
import { ABORT_CASES } from "./table_aborts.ts";
import { URL_CASES } from "./table_urls.ts";
import { POST_CASES } from "./table_posts.ts";
import { BODY_CASES } from "./table_bodies.ts";
import { OPTION_CASES } from "./table_options.ts";
import { METADATA_CASES } from "./table_metadata.ts";
import { REDIRECT_CASES } from "./table_redirects.ts";
import { RESPONSE_CASES } from "./table_responses.ts";
import { SOCKET_CASES } from "./table_sockets.ts";

/** Every case. */
export const TABLE: readonly ICase[] = [
  ...SOCKET_CASES,
  ...RESPONSE_CASES,
  ...BODY_CASES,
  ...REDIRECT_CASES,
  ...METADATA_CASES,
  ...POST_CASES,
  ...URL_CASES,
  ...ABORT_CASES,
  ...OPTION_CASES,
];
