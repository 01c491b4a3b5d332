/** One append alone; more is a bug. */
const APPEND_EVENTS_MAX = 1000;

/** Throws RangeError for an append that is larger than any may be, or than this store takes. */
export function checkSizes(
  appends: readonly { readonly events: { readonly length: number }; readonly bytes: number }[],
  bytesMax: number,
): void {
  for (const append of appends) {
    if (append.events.length > APPEND_EVENTS_MAX) {
      throw new RangeError(`an append carries ${APPEND_EVENTS_MAX} events at most`);
    }
    if (append.bytes > bytesMax) {
      throw new RangeError(`an append carries ${bytesMax} bytes at most`);
    }
  }
}
