/** The number of strings that the platform's own sort handles between two pauses. */
const RUN = 4_096;

const SURROGATE = /[\ud800-\udfff]/;

/**
 * Sorts strings by their UTF-8 bytes. UTF-16 order differs only for characters above U+FFFF, which it places before
 * U+E000. It pauses at each `yield`: short runs are sorted and then merged.
 */
export function* sortedByBytes(strings: readonly string[]): Generator<void, string[]> {
  const isAstral = strings.some((text) => SURROGATE.test(text));
  const keyed = isAstral ? strings.map(toBytes) : strings;
  let runs: string[][] = [];
  for (let start = 0; start < keyed.length; start += RUN) {
    runs.push(keyed.slice(start, start + RUN).sort());
    yield;
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(yield* merge(runs[index] ?? [], runs[index + 1] ?? []));
    }
    runs = merged;
  }
  const sorted = runs[0] ?? [];
  return isAstral ? sorted.map(fromBytes) : sorted;
}

function* merge(left: readonly string[], right: readonly string[]): Generator<void, string[]> {
  const merged: string[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length && r < right.length) {
    const next = (left[l] as string) <= (right[r] as string) ? left[l++] : right[r++];
    merged.push(next as string);
    if (merged.length % RUN === 0) yield;
  }
  while (l < left.length) merged.push(left[l++] as string);
  while (r < right.length) merged.push(right[r++] as string);
  return merged;
}

/** Returns a string with one character per byte, so that comparing characters compares bytes. */
function toBytes(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

function fromBytes(bytes: string): string {
  return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
}
