/**
 * Looks up names as the system does, with its search domains and `/etc/hosts`, for receivers in the operator's own
 * network. Each lookup occupies a thread that password hashing needs as well, so few run at once.
 */
import { lookup } from 'node:dns/promises';
import { type Clock, FairQueue, loadingCache, systemClock } from '@cardea/runtime';
import { ConnectFailed, type NameResolver } from './guarded-connector.ts';

/** Concurrent lookups. A lookup cannot be cancelled, so its place is free only when it has ended. */
const LOOKUPS_MAX = 2;
const WAITING_MAX = 256;
const WAIT_MS = 3_000;
/** How long a result is shared by consecutive attempts. */
const ANSWER_MS = 2_000;
const ANSWERS_MAX = 1_000;

const allAddresses: NameResolver = async (name) =>
  (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);

export function systemResolver(
  ask: NameResolver = allAddresses,
  clock: Pick<Clock, 'after' | 'monotonicMs'> = systemClock,
): NameResolver {
  const places = new FairQueue(
    {
      places: LOOKUPS_MAX,
      perFreePlace: Number.POSITIVE_INFINITY,
      waitingMax: WAITING_MAX,
      waitMaxMs: WAIT_MS,
    },
    clock,
  );
  const answers = loadingCache<string, readonly string[]>(clock, {
    entriesMax: ANSWERS_MAX,
    ttlMs: ANSWER_MS,
  });
  const inTurn: NameResolver = async (name) => {
    const leave = await places.take(name);
    if (leave === undefined) throw new ConnectFailed('dns_error');
    try {
      return await ask(name);
    } catch {
      throw new ConnectFailed('dns_error');
    } finally {
      leave();
    }
  };
  return (name) => answers.get(name, () => inTurn(name));
}
