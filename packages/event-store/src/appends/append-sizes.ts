/** The most events of one append. More would be a bug. */
const APPEND_EVENTS_MAX = 1000;

/** Throws RangeError for an append beyond the limits of all stores or of this one. */
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
