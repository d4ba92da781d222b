/** Tables in tests: a row that fails says which one it is. */

function labelOf(row: unknown): string {
  try {
    const text = JSON.stringify(
      row,
      (_, value) => typeof value === "function" ? `${value.name}()` : value,
    );
    return (text ?? String(row)).slice(0, 200);
  } catch {
    return String(row);
  }
}

function ofRow(error: unknown, index: number, row: unknown): unknown {
  if (!(error instanceof Error)) return error;
  error.message = `Row ${index + 1}, ${labelOf(row)}: ${error.message}`;
  return error;
}

/** Checks each row in turn; an error names the row. */
export function eachRow<T>(
  rows: Iterable<T>,
  check: (row: T) => void,
): void {
  let index = 0;
  for (const row of rows) {
    try {
      check(row);
    } catch (error) {
      throw ofRow(error, index, row);
    }
    index++;
  }
}

/** Does what {@linkcode eachRow} does, with a check that waits. */
export async function eachRowInTurn<T>(
  rows: Iterable<T>,
  check: (row: T) => Promise<void>,
): Promise<void> {
  let index = 0;
  for (const row of rows) {
    try {
      await check(row);
    } catch (error) {
      throw ofRow(error, index, row);
    }
    index++;
  }
}
