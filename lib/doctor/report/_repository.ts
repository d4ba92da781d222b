/** Where the project is, which reports and package.json name. */

/**
 * The URL of the repository, without a slash at its end. Undefined until there is
 * a public repository: `deno task release missing` asks for it.
 */
export const REPOSITORY: string | undefined = undefined;
