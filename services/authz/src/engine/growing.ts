const GROWTH = 1.25;

/** Returns a copy with room for at least `length` entries. */
export function grown<A extends Uint8Array | Uint32Array>(array: A, length: number): A {
  const size = Math.max(length, Math.ceil(array.length * GROWTH));
  const larger = new (array.constructor as new (size: number) => A)(size);
  larger.set(array);
  return larger;
}
