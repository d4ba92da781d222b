/** The arguments of `deno task test`: which are paths of tests, and which options. */

/** The options of `deno test` whose value may be the next argument. */
const WITH_VALUE = new Set([
  "--cert",
  "--conditions",
  "--config",
  "--coverage-threshold",
  "--ext",
  "--filter",
  "--import-map",
  "--inspect-publish-uid",
  "--junit-path",
  "--location",
  "--min-dep-age",
  "--node-modules-linker",
  "--preload",
  "--related",
  "--repeats",
  "--reporter",
  "--require",
  "--retry",
  "--seed",
  "--shard",
  "-c",
]);

export function readTestArgs(
  args: readonly string[],
): { options: string[]; paths: string[] } {
  const options: string[] = [];
  const paths: string[] = [];
  let isValue = false;
  for (const arg of args) {
    const isOption = isValue || arg.startsWith("-");
    (isOption ? options : paths).push(arg);
    isValue = !isValue && WITH_VALUE.has(arg);
  }
  return { options, paths };
}
