import type { DiagnoseOptions } from "./diagnosis.ts";

/**
 * The options of {@linkcode diagnose}, and whether a client metadata document uses them
 * too.
 */
const OPTIONS: Record<keyof DiagnoseOptions, boolean> = {
  allowHttp: true,
  allowUrl: true,
  assumePkce: false,
  authorizationServer: true,
  browser: false,
  client: true,
  fetch: true,
  headers: true,
  maxBytes: true,
  now: true,
  offlineAccess: false,
  onRequest: false,
  resourceMatch: true,
  serverMetadata: true,
  serverMetadataHeaders: true,
  signal: true,
  signIn: false,
  timeoutMs: true,
  trustedIssuers: true,
  userAgent: true,
};

export const DIAGNOSE_OPTIONS: readonly string[] = Object.keys(OPTIONS);

export const CLIENT_METADATA_OPTIONS: readonly string[] = [
  ...Object.entries(OPTIONS).flatMap(([name, isShared]) =>
    isShared ? [name] : []
  ),
  "target",
];
