/** Names that the files of sessions and of the doctor still use. */

export { contextOf as transportOf, fetchWith } from "./_context.ts";
export type { IContext as ITransport } from "./_context.ts";
