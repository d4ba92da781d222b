import { requireArgument } from "../core/_arguments.ts";
import { isSendable } from "../token/_usable_token.ts";

/**
 * An initial access token for a registration, or a function that returns it for the
 * server's issuer, or `undefined`. A string is sent to the discovered server: prefer a
 * function if a resource may list another server.
 *
 * @see RFC 7591, section 3.
 *
 * @category Clients
 */
export type InitialAccessToken =
  | string
  | ((issuer: string) => string | undefined | Promise<string | undefined>);

export async function authorizationFor(
  issuer: string,
  given: InitialAccessToken | undefined,
): Promise<Readonly<Record<string, string>> | undefined> {
  const token: unknown = typeof given === "function"
    ? await given(issuer)
    : given;
  if (token === undefined) return undefined;
  requireArgument(
    typeof token === "string" && token !== "" && isSendable(token),
    "initialAccessToken",
    "a token, or a function that returns one",
  );
  return { Authorization: `Bearer ${token}` };
}
