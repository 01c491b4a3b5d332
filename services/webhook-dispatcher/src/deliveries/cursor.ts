/** The end of a page of attempts, opaque to clients. */
export type Cursor = {
  readonly attemptedAt: string;
  readonly deliveryId: string;
  readonly n: number;
};

const FORM =
  /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) ([1-9]\d?)$/;

export const printCursor = ({ attemptedAt, deliveryId, n }: Cursor): string =>
  Buffer.from(`${attemptedAt} ${deliveryId} ${n}`, 'utf8').toString('base64url');

/** Returns undefined for a text that {@link printCursor} never made. */
export function readCursor(text: string): Cursor | undefined {
  const plain = Buffer.from(text, 'base64url').toString('utf8');
  const [, attemptedAt, deliveryId, n] = FORM.exec(plain) ?? [];
  if (attemptedAt === undefined || deliveryId === undefined) return undefined;
  const cursor = { attemptedAt, deliveryId, n: Number(n) };
  const isOurs = printCursor(cursor) === text && !Number.isNaN(Date.parse(attemptedAt));
  return isOurs ? cursor : undefined;
}
