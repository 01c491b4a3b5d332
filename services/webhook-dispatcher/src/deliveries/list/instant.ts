/** A moment as a client writes it (RFC 3339); null when it is none. */
const FORM = /^(\d{4}-\d{2}-\d{2})[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;
const DATE_CHARS = 10;

/** A `+` that a client forgot to encode arrives as a space. */
export function instant(text: string): Date | null {
  const plain = text.replace(' ', '+').toUpperCase();
  const day = FORM.exec(plain)?.[1];
  if (day === undefined) return null;
  const time = new Date(plain);
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(time.getTime()) || Number.isNaN(midnight.getTime())) return null;
  // The 31st of February is rolled into March by the parser, and is no time.
  return midnight.toISOString().slice(0, DATE_CHARS) === day ? time : null;
}
