/** The `internal` member of a session: terms of its grant, and bookkeeping. */

/** Unknown members are kept: a later version may have written them. */
export type Internal = {
  /** The sent `resource` (RFC 8707), if it is not the resource; false for none. */
  readonly resourceIndicator?: string | false;
  /** Whether the server requires scopes in a refresh. */
  readonly sendScopeOnRefresh?: true;
  /** The `redirect_uri` that the server requires in a refresh. */
  readonly redirectUriOnRefresh?: string;
  readonly tokenParameters?: Readonly<Record<string, string>>;
  /**
   * Set while the user signs in with the session's client, and after a sign-in without
   * a response or with a rejected client. The next sign-in does not use the client.
   */
  readonly isUserAway?: true;
  /** Set if the server does not share this API's sign-in with the other APIs. */
  readonly isAlone?: true;
  /**
   * The redeemed ID-JAG, which is redeemed again while it is valid; with the granted
   * scopes, if known.
   */
  readonly idJag?: { readonly assertion: string; readonly scope?: string };
};

export function internalOf(
  session: { readonly internal?: object | undefined } | null | undefined,
): Internal {
  return session?.internal ?? {};
}
