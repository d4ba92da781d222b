/** Maps that cannot grow without limit. */

/** Values are kept for this many keys, such as servers. */
const MAX_KEYS = 100;

/** Keeps a value; beyond the limit, the one that was kept first is dropped. */
export function keepFor<Value>(
  values: Map<string, Value>,
  key: string,
  value: Value,
  limit: number = MAX_KEYS,
): void {
  values.delete(key);
  values.set(key, value);
  const [oldest] = values.keys();
  if (values.size > limit && oldest !== undefined) values.delete(oldest);
}
