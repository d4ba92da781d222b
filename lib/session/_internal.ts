/** What `internal` of a session contains: terms of its grant, and bookkeeping. */

/** Members may come with any version; those that a version does not know are kept. */
export type Internal = {
  /** What is sent as `resource` (RFC 8707), if not the resource; false for nothing. */
  readonly resourceIndicator?: string | false;
  /** Whether a refresh sends the scopes, because the server requires them. */
  readonly sendScopeOnRefresh?: true;
  /** The `redirect_uri` that a refresh sends, because the server requires it. */
  readonly redirectUriOnRefresh?: string;
  /** Other parameters of token requests and refreshes. */
  readonly tokenParameters?: Readonly<Record<string, string>>;
  /**
   * Set while the user signs in with the client of the session, and after a sign-in
   * without a response, or one that the server rejected because of the client: the next
   * sign-in does not use the client.
   */
  readonly isUserAway?: true;
  /**
   * Set if the API has signed in by itself, or has to: the server declines to share a
   * sign-in between this API and the others.
   */
  readonly isAlone?: true;
  /**
   * The ID-JAG that was redeemed for the token, and is redeemed again while it is valid;
   * with the granted scopes, if known.
   */
  readonly idJag?: { readonly assertion: string; readonly scope?: string };
};

export function internalOf(
  session: { readonly internal?: object | undefined } | null | undefined,
): Internal {
  return session?.internal ?? {};
}
