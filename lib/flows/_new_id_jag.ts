/** How a new ID-JAG is obtained with the token of a user. */

import { TOKEN_TYPE_ID_TOKEN } from "../core/constants.ts";
import type { IIdJag } from "../token/cross_app_access.ts";
import type { IAuthorizeRequest } from "./flow.ts";
import {
  hasExpired,
  type ISubjectToken,
  type ISubjectTokenRequest,
  requiredAuthenticationOf,
  subjectTokenOf,
} from "./subject_token.ts";

export async function askForToken(
  getSubjectToken: (
    request: ISubjectTokenRequest,
  ) => string | ISubjectToken | Promise<string | ISubjectToken>,
  { acrValues, maxAge, signal }: IAuthorizeRequest,
  why: ISubjectTokenRequest,
): Promise<Required<ISubjectToken>> {
  signal?.throwIfAborted();
  const given = await getSubjectToken({ acrValues, maxAge, signal, ...why });
  return subjectTokenOf("getSubjectToken", given, TOKEN_TYPE_ID_TOKEN);
}

interface INewIdJag {
  /** Asks the caller for the token of the user. */
  readonly ask: (why: ISubjectTokenRequest) => Promise<Required<ISubjectToken>>;
  /** Exchanges it at the identity provider. */
  readonly exchange: (subject: Required<ISubjectToken>) => Promise<IIdJag>;
  readonly now: () => number;
}

/**
 * Requests an ID-JAG from the identity provider. The caller is asked again if the
 * token has expired, or if the user has to authenticate in another way.
 */
export async function newIdJag(
  { ask, exchange, now }: INewIdJag,
): Promise<IIdJag> {
  let subject = await ask({});
  if (hasExpired(subject, now)) {
    subject = await ask({ refusedToken: subject.token });
  }
  try {
    return await exchange(subject);
  } catch (error) {
    const required = requiredAuthenticationOf(error);
    if (!required) throw error;
    const next = await ask({ ...required, refusedToken: subject.token });
    if (next.token === subject.token) throw error;
    return await exchange(next);
  }
}
