/**
 * The URL of the repository, without a slash at its end. Undefined until there is a
 * public repository; `deno task release missing` lists it.
 */
export const REPOSITORY: string | undefined = undefined;
