/** The receivers of a page, beside what signs in. */

export * from "../../../lib/browser/mod.ts";
