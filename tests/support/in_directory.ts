/** Runs a task with a new directory, which is removed afterwards. */
export async function inDirectory(
  task: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await task(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
