/** The `resource` that is sent in every request of a grant (RFC 8707). */

/** Returns the resource indicator of a grant; false for a server that rejects it. */
export function requestedResource(
  { resource, omitResource }: {
    readonly resource: string;
    readonly omitResource?: true | undefined;
  },
): string | false {
  return omitResource ? false : resource;
}
