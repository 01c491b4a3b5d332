import { codeOf, errorCode, isConnectionLost, Outage } from '@cardea/runtime';

/**
 * The only classification of failures. An outage says nothing about an event: a dependency is unavailable, busy or not
 * migrated yet, or two transactions conflicted. The follower waits until it ends. Any other failure is attributed to
 * the event, and parks its stream.
 *
 * Only those PostgreSQL errors that concern values are attributed to the event. The text of a statement is the same for
 * all events, so a missing table or column would otherwise park every stream. For Kafka, only errors about the sent
 * records are: a missing topic or a refused login says nothing about an event.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof Outage || isConnectionLost(error) || isStopped(error)) return true;
  if (isOfKafka(error)) return !blamesRecords(error);
  const code = codeOf(error);
  return code !== undefined && SQLSTATE.test(code) && !BLAMES_VALUES.test(code);
}

/** Wraps work after events have taken effect. None of its failures is attributed to an event. */
export async function asOutage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isOutage(error)) throw error;
    throw new AfterEffect(errorCode(error), { cause: error });
  }
}

class AfterEffect extends Outage {
  override readonly name = 'AfterEffect';
}

/** A wait timed out: a table or an index still lags behind its log. */
export class NotCaughtUp extends Outage {
  override readonly name = 'NotCaughtUp';
}

const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/;
/** Data exception, integrity, cardinality, program limit, or raised by our own triggers and functions. */
const BLAMES_VALUES = /^(22|23|21000|54|P0001)/;

/** The work was stopped, or a wait timed out. */
const isStopped = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');

type OfKafka = { readonly type?: unknown; readonly cause?: unknown };

/** The driver's own errors. The broker's error may be the cause of another. */
const isOfKafka = (error: unknown): error is Error & OfKafka =>
  error instanceof Error && error.name.startsWith('KafkaJS');

const blamesRecords = (error: Error & OfKafka): boolean =>
  BLAMES_RECORDS.has(String(error.type)) || (isOfKafka(error.cause) && blamesRecords(error.cause));

const BLAMES_RECORDS: ReadonlySet<string> = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
]);

/**
 * Applies items in order, all together if that succeeds. A failure that is attributed to an item halves them until the
 * faulty item is found. That one is set aside, and all others take effect. An outage is thrown, because it says nothing
 * about any item.
 */
export async function applyOrSetAside<Item>(
  items: readonly Item[],
  to: {
    readonly apply: (items: readonly Item[]) => Promise<void>;
    readonly setAside: (item: Item, error: unknown) => Promise<void>;
  },
): Promise<void> {
  try {
    await to.apply(items);
  } catch (error) {
    const [only] = items;
    if (only === undefined || isOutage(error)) throw error;
    if (items.length === 1) {
      await to.setAside(only, error);
      return;
    }
    const middle = Math.ceil(items.length / 2);
    await applyOrSetAside(items.slice(0, middle), to);
    await applyOrSetAside(items.slice(middle), to);
  }
}
