import { TOKEN_TYPE_ID_TOKEN } from "../core/constants.ts";
import type { IdJag } from "../token/cross_app_access.ts";
import type { FlowRequest } from "./flow.ts";
import {
  hasExpired,
  requiredAuthenticationOf,
  type SubjectToken,
  subjectTokenOf,
  type SubjectTokenRequest,
} from "./subject_token.ts";

export async function askForToken(
  getSubjectToken: (
    request: SubjectTokenRequest,
  ) => string | SubjectToken | Promise<string | SubjectToken>,
  { acrValues, maxAge, signal }: FlowRequest,
  why: SubjectTokenRequest,
): Promise<Required<SubjectToken>> {
  signal?.throwIfAborted();
  const given = await getSubjectToken({ acrValues, maxAge, signal, ...why });
  return subjectTokenOf("getSubjectToken", given, TOKEN_TYPE_ID_TOKEN);
}

interface NewIdJag {
  readonly ask: (why: SubjectTokenRequest) => Promise<Required<SubjectToken>>;
  /** Exchanges it at the identity provider. */
  readonly exchange: (subject: Required<SubjectToken>) => Promise<IdJag>;
  readonly now: () => number;
}

/**
 * Requests an ID-JAG from the identity provider. Calls `ask` again if the token has
 * expired, or if the user must authenticate differently.
 */
export async function newIdJag(
  { ask, exchange, now }: NewIdJag,
): Promise<IdJag> {
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
