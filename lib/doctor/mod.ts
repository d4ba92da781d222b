/**
 * Diagnoses an OAuth server: why a client cannot obtain a token, and how the server's
 * operator and the client can fix it. On the command line, run
 * `oauth-helper doctor URL`.
 *
 * @module
 */

export * from "./client_metadata.ts";
export * from "./diagnose.ts";
export * from "./diagnosis.ts";
export * from "./report/report_html.ts";
export * from "./sign_in/sign_in.ts";
