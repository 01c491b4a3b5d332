/**
 * A moment as a client writes it in a query (RFC 3339); null when it is none. What lies outside the
 * years 1 to 9999, which an offset can reach, is brought to their edge: no database has to read it.
 */
export function instantOf(text: string): Date | null {
  // A `+` that a client forgot to encode arrives as a space.
  const plain = text.replace(' ', '+').toUpperCase();
  const day = FORM.exec(plain)?.[1];
  if (day === undefined) return null;
  const time = Date.parse(plain);
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(time) || Number.isNaN(midnight.getTime())) return null;
  // The 31st of February is rolled into March by the parser, and is no time.
  if (midnight.toISOString().slice(0, DATE_CHARS) !== day) return null;
  return new Date(Math.min(Math.max(time, FIRST_MS), LAST_MS));
}

const FORM = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
const DATE_CHARS = 10;
const FIRST_MS = Date.parse('0001-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');
