/** Rows of a query as a stream in PostgreSQL's text format; the server sends as fast as it is read. */
import type { Readable } from 'node:stream';
import type { Transaction } from '@cardea/read-models';
import { to } from 'pg-copy-streams';

type Wanted = { readonly text: string; readonly values: readonly unknown[] };
/** The part of the driver's client that is needed here. */
type Client = { query(stream: Readable): Readable; escapeLiteral(text: string): string };

export function copyOut({ client }: Transaction, wanted: Wanted): Readable {
  const driver = client as Client;
  return driver.query(to(`COPY (${inlined(wanted, driver)}) TO STDOUT`));
}

/** COPY takes no parameters, so they stand in the text as literals that the driver escaped. */
const inlined = ({ text, values }: Wanted, { escapeLiteral }: Client): string =>
  text.replaceAll(/\$(\d+)/g, (_all, number: string) =>
    literal(values[Number(number) - 1], escapeLiteral),
  );

function literal(value: unknown, escapeLiteral: (text: string) => string): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return escapeLiteral(value);
  throw new Error('a filter is neither a number nor a text');
}
