/**
 * Values that a process computes once for each key, because keys repeat and their values never change. When a value
 * beyond `entriesMax` is added, all cached values are dropped, and computed again when they are needed.
 */
export function computedOnce<Key, Value extends NonNullable<unknown>>(
  entriesMax: number,
): (key: Key, compute: () => Value) => Value {
  const values = new Map<Key, Value>();
  return (key, compute) => {
    const known = values.get(key);
    if (known !== undefined) return known;
    const value = compute();
    if (values.size >= entriesMax) values.clear();
    values.set(key, value);
    return value;
  };
}
