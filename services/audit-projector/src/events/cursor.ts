/** Where a page ended: the time and id of its last row, opaque to clients. */
export type Cursor = { readonly ts: string; readonly id: string };

const FORM =
  /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

export const printCursor = ({ ts, id }: Cursor): string =>
  Buffer.from(`${ts} ${id}`, 'utf8').toString('base64url');

/** Undefined for a text that {@link printCursor} never made. */
export function readCursor(text: string): Cursor | undefined {
  const plain = Buffer.from(text, 'base64url').toString('utf8');
  const [, ts, id] = FORM.exec(plain) ?? [];
  if (ts === undefined || id === undefined || printCursor({ ts, id }) !== text) return undefined;
  return Number.isNaN(Date.parse(ts)) ? undefined : { ts, id };
}
