/** Queries and pages of lists that continue after a cursor. */
import Type from 'typebox';

/** The end of a page: the time and id of its last row, opaque to clients. */
export type Cursor = { readonly ts: string; readonly id: string };

const FORM =
  /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

export const printCursor = ({ ts, id }: Cursor): string =>
  Buffer.from(`${ts} ${id}`, 'utf8').toString('base64url');

/** Returns undefined for a text that {@link printCursor} never made. */
export function readCursor(text: string): Cursor | undefined {
  const plain = Buffer.from(text, 'base64url').toString('utf8');
  const [, ts, id] = FORM.exec(plain) ?? [];
  if (ts === undefined || id === undefined || printCursor({ ts, id }) !== text) return undefined;
  return Number.isNaN(Date.parse(ts)) ? undefined : { ts, id };
}

const CURSOR_PAGE_DEFAULT = 50;
const CURSOR_PAGE_MAX = 1_000;
const CURSOR_CHARS_MAX = 200;

/** Query parameters of a list that continues only by `cursor`. */
export const cursorQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: CURSOR_PAGE_MAX })),
  /** If empty or missing, the first page is returned. */
  cursor: Type.Optional(Type.String({ maxLength: CURSOR_CHARS_MAX })),
};

export type CursorPage = { readonly limit: number; readonly after: Cursor | undefined };

/** The page that a query requests, or why its cursor is invalid. */
export function pageOfCursor({
  limit = CURSOR_PAGE_DEFAULT,
  cursor = '',
}: {
  readonly limit?: number;
  readonly cursor?: string;
}): CursorPage | { readonly field: string; readonly rule: string } {
  if (cursor === '') return { limit, after: undefined };
  const after = readCursor(cursor);
  return after === undefined ? { field: 'cursor', rule: 'form' } : { limit, after };
}

/** Returns null after the last page. */
export function nextCursor<Row>(
  rows: readonly Row[],
  limit: number,
  placeOf: (row: Row) => Cursor,
): string | null {
  const last = rows.at(-1);
  return last === undefined || rows.length < limit ? null : printCursor(placeOf(last));
}
