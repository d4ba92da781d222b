/** Returns the fragment of a heading, as GitHub makes it: links work in both places. */
export function fragmentOf(title: string): string {
  return title.toLowerCase().replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, "")
    .replaceAll(" ", "-");
}
