/**
 * Whoever changed the ring (another replica, the command line beside us), every process hears of it; and
 * of a key that was removed the private half is gone, from the log and from all its copies.
 */
import { KEYS_CHANGED } from '@cardea/auth';
import type { Sealer } from '@cardea/crypto';
import type { RecordedEvent } from '@cardea/event-store';
import type { Cache } from '@cardea/runtime';
import type { Policy } from '@cardea/service';
import { keyPlace } from '../streams/seals.ts';
import type { KeyringEvent } from './keyring.ts';

type Change = Extract<KeyringEvent, { type: 'KeyAdded' | 'KeyActivated' | 'KeyRemoved' }>;

export const tellChangedKeys = (needs: {
  readonly cache: Pick<Cache, 'publish'>;
  readonly sealer: Pick<Sealer, 'erase'>;
}): Policy => ({
  name: 'tell_changed_keys',
  on: ['KeyAdded', 'KeyActivated', 'KeyRemoved'] satisfies Change['type'][],
  handle: async (event: RecordedEvent) => {
    const { kid } = event.data as Change['data'];
    await needs.cache.publish(KEYS_CHANGED, '');
    if (event.type === 'KeyRemoved') await needs.sealer.erase(keyPlace(kid).subject);
  },
});
