/**
 * Truncates the details of an event to the size of a row by a fixed rule. Thus no event is too large for the audit log,
 * and a rebuild gives the same rows. `omitted` counts the missing items of lists.
 */
import type { Details, DetailValue } from './audit-row.ts';

const DETAIL_CHARS_MAX = 1024;
export const DETAILS_BYTES_MAX = 8 * 1024;
/** The size of `omitted` and its number. */
const OMITTED_BYTES = 32;
const LIST_BYTES = '[]'.length;

type Known = { [name: string]: DetailValue };

export function withinRow(details: Details): Details {
  const cut: Known = {};
  for (const [name, value] of Object.entries(details)) {
    if (value === undefined) continue;
    cut[name] = typeof value === 'string' ? shortened(value, DETAIL_CHARS_MAX) : value;
  }
  if (bytesOf(cut) <= DETAILS_BYTES_MAX) return cut;
  const bytesMax = DETAILS_BYTES_MAX - OMITTED_BYTES;
  const omitted = cutLists(cut, bytesMax) + cutListsInside(cut, bytesMax);
  if (omitted > 0) cut['omitted'] = omitted;
  cutTexts(cut, DETAILS_BYTES_MAX);
  return cut;
}

/**
 * The maximum size of a target. The table has an index over targets, and an index accepts texts of at most 2,704 bytes.
 */
const TARGET_BYTES_MAX = 2_048;
const BYTES_PER_CHAR_MAX = 3;

export const targetWithinIndex = (id: string | null): string | null =>
  id === null || Buffer.byteLength(id) <= TARGET_BYTES_MAX
    ? id
    : shortened(id, Math.floor(TARGET_BYTES_MAX / BYTES_PER_CHAR_MAX));

/** Removes items from the end of the longest list, then of the next longest, until the details fit. */
function cutLists(details: Known, bytesMax: number): number {
  let omitted = 0;
  let bytes = bytesOf(details);
  while (bytes > bytesMax) {
    const name = longest(details, (value) => Array.isArray(value) && value.length > 0);
    if (name === undefined) break;
    const kept = [...(details[name] as readonly DetailValue[])];
    while (bytes > bytesMax && kept.length > 0) {
      const separator = kept.length > 1 ? 1 : 0;
      bytes -= bytesOf(kept.pop()) + separator;
      omitted += 1;
    }
    details[name] = kept as DetailValue;
  }
  return omitted;
}

/** Cuts the lists one level below, after no list of the details themselves can be cut further. */
function cutListsInside(details: Known, bytesMax: number): number {
  let omitted = 0;
  for (const [name, value] of Object.entries(details)) {
    const over = bytesOf(details) - bytesMax;
    if (over <= 0) break;
    if (!isNested(value)) continue;
    const inner: Known = { ...value };
    omitted += cutLists(inner, bytesOf(value) - over);
    details[name] = inner as Nested;
  }
  return omitted;
}

type Nested = Exclude<DetailValue, string | number | boolean | null | readonly unknown[]>;
const isNested = (value: DetailValue): value is Nested =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Halves the longest text until all fits. */
function cutTexts(details: Known, bytesMax: number): void {
  while (bytesOf(details) > bytesMax) {
    const name = longest(details, (value) => typeof value === 'string' && value.length > 0);
    if (name === undefined) return;
    const text = details[name] as string;
    details[name] = shortened(text, Math.floor(text.length / 2));
  }
}

function longest(details: Known, isMeant: (value: DetailValue) => boolean): string | undefined {
  const sizes = Object.entries(details)
    .filter(([, value]) => isMeant(value))
    .map(([name, value]) => ({ name, bytes: bytesOf(value) }));
  return sizes.toSorted((a, b) => b.bytes - a.bytes)[0]?.name;
}

/** Cuts the text without splitting a surrogate pair, since databases refuse half a pair. */
const shortened = (text: string, charsMax: number): string =>
  text.slice(0, charsMax).toWellFormed();

const bytesOf = (value: unknown): number =>
  Math.max(Buffer.byteLength(JSON.stringify(value) ?? ''), LIST_BYTES);
