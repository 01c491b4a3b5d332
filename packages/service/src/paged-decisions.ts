/**
 * Waits until a table contains everything up to a position of the log, reads its rows in pages by key, and decides on
 * each.
 */
import type { Command, Decided, Decision, DomainEvent, Stream, Streams } from '@cardea/event-store';
import { NotCaughtUp } from '@cardea/log-follower';
import type { Positions } from '@cardea/read-models';

type Dependencies = {
  readonly positions: Pick<Positions, 'reached'>;
  readonly streams: Pick<Streams, 'decideOnMany'>;
};

/** The rows at the time when the projections have reached the position. */
export type PagedRows<Row> = {
  readonly projections: readonly string[];
  readonly position: bigint;
  readonly waitMs: number;
  readonly pageRows: number;
  /** At most `pageRows` rows with keys above `after`, in the order of their keys. */
  readonly page: (after: string) => Promise<readonly Row[]>;
  readonly keyOf: (row: Row) => string;
  /** Sorts before every key. */
  readonly firstKey: string;
};

type RowDecisions<Row, State, E extends DomainEvent, Reason extends string> = {
  /** Each row of a page is decided on a separate stream. */
  readonly stream: Stream<State, E>;
  /** The command's id is derived from the row and the cause. */
  readonly decisionOn: (row: Row) => RowDecision<State, E, Reason>;
  readonly onDecided?: (row: Row, decided: Decided<State, E, Reason>) => Promise<void>;
};

type RowDecision<State, E extends DomainEvent, Reason extends string> = {
  readonly id: string;
  readonly command: Command;
  readonly decide: (state: State, revision: number) => Decision<E, Reason>;
};

/** Yields the pages. Each is read after the one before was processed. Throws NotCaughtUp before the first. */
export async function* pagesOf<Row>(
  { positions }: Pick<Dependencies, 'positions'>,
  { projections, position, waitMs, pageRows, page, keyOf, firstKey }: PagedRows<Row>,
): AsyncGenerator<readonly Row[], void, undefined> {
  if (!(await positions.reached(projections, position, waitMs))) {
    throw new NotCaughtUp(`not caught up with the log: ${projections.join(', ')}`);
  }
  let after = firstKey;
  // Each iteration advances by a page, so it ends with the table.
  while (true) {
    const rows = await page(after);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    if (rows.length < pageRows) return;
    after = keyOf(last);
  }
}

/** Decides on the rows of each page in one batch. A refused row does not stop others. */
export async function decideOnRows<Row, State, E extends DomainEvent, Reason extends string>(
  { positions, streams }: Dependencies,
  table: PagedRows<Row>,
  { stream, decisionOn, onDecided }: RowDecisions<Row, State, E, Reason>,
): Promise<void> {
  for await (const rows of pagesOf({ positions }, table)) {
    const decided = await streams.decideOnMany(stream, rows.map(decisionOn));
    for (const [at, row] of rows.entries()) {
      const one = decided[at];
      if (one !== undefined) await onDecided?.(row, one);
    }
  }
}
