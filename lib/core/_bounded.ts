const MAX_KEYS = 100;

/** Keeps a value. Beyond the limit, drops the oldest one. */
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
