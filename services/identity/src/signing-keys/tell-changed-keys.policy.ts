/**
 * Notifies every process of a change of the ring, made by another replica or by the command line. Erases the private
 * part of a removed key, in the log and in all copies of the log.
 */
import { KEYS_CHANGED } from '@cardea/auth';
import type { Sealer } from '@cardea/crypto';
import { type Cache, writeOrDistrust } from '@cardea/runtime';
import { policy } from '@cardea/service';
import { keyField } from '../streams/encrypted-fields.ts';
import type { KeyringEvent } from './keyring.ts';

export const tellChangedKeys = ({
  cache,
  sealer,
}: {
  readonly cache: Pick<Cache, 'publish' | 'distrust'>;
  readonly sealer: Pick<Sealer, 'erase'>;
}) => {
  const tell = () => writeOrDistrust(cache, () => cache.publish(KEYS_CHANGED, ''));
  return policy<KeyringEvent>()({
    name: 'tell_changed_keys',
    on: {
      KeyAdded: tell,
      KeyActivated: tell,
      KeyRemoved: async ({ data: { kid } }) => {
        await tell();
        await sealer.erase(keyField(kid).subject);
      },
    },
  });
};
