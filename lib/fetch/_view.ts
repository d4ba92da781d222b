/** What an API sees of a session that several APIs share. */

import type { ISharing } from "../flows/_sharing.ts";
import type { ISession } from "../session/session.ts";

/** An API, and how those that share a sign-in see their session. */
export interface IView {
  readonly resource: URL;
  readonly apis: ISharing | undefined;
}

/** Returns a stored session with this API in front, if it is one of several. */
export function viewFor(
  { resource, apis }: IView,
  session: ISession,
): ISession {
  return apis?.viewOf(session, resource) ?? session;
}
