/** The formats in which hosts that run a command read a token. */

import type { TokenFormat } from "./_options.ts";
import { rfc3339 } from "./_time.ts";

/** A token to print. */
export interface PrintedToken {
  readonly token: string;
  /** When the token expires, in seconds since 1970, if that is known. */
  readonly expiry: number | undefined;
  readonly username: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const KUBERNETES_GROUP = "client.authentication.k8s.io/";

/** Returns the version that kubectl expects: the one that its configuration names. */
function kubernetesVersion(execInfo = "{}"): string {
  try {
    const { apiVersion } = JSON.parse(execInfo);
    if (apiVersion.startsWith(KUBERNETES_GROUP)) return apiVersion;
  } catch {
    // Another program may have set the variable.
  }
  return `${KUBERNETES_GROUP}v1`;
}

/** Writes a token in each format, by the name that `--format` accepts. */
export const TOKEN_FORMATS = {
  kubernetes: ({ token, expiry, env }) => ({
    apiVersion: kubernetesVersion(env.KUBERNETES_EXEC_INFO),
    kind: "ExecCredential",
    status: {
      token,
      expirationTimestamp: expiry === undefined ? undefined : rfc3339(expiry),
    },
  }),
  // Docker calls the command each time, so the format has no expiry.
  docker: ({ token, username }) => ({ Username: username, Secret: token }),
} as const satisfies Record<TokenFormat, (printed: PrintedToken) => object>;
