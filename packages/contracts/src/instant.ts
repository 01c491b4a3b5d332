/**
 * Parses a time in a query (RFC 3339). Returns null when it is invalid. An offset can move a time out of the years 1 to
 * 9999. It is clamped to them, because databases cannot store other years.
 */
export function instantOf(text: string): Date | null {
  // A `+` that the client did not URL-encode arrives as a space.
  const plain = text.replace(' ', '+').toUpperCase();
  const day = FORM.exec(plain)?.[1];
  if (day === undefined) return null;
  const time = Date.parse(plain);
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(time) || Number.isNaN(midnight.getTime())) return null;
  // The parser turns the 31st of February into a day in March. Such a date is invalid.
  if (midnight.toISOString().slice(0, DATE_CHARS) !== day) return null;
  return new Date(Math.min(Math.max(time, FIRST_MS), LAST_MS));
}

const FORM = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
const DATE_CHARS = 10;
const FIRST_MS = Date.parse('0001-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');
