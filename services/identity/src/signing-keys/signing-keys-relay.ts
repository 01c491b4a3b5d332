/** What other services hear of the key ring. */
import { integrationEvent, relayOf } from '../streams/integration-events.ts';
import type { KeyringEvent } from './keyring.ts';

export const signingKeysRelay = relayOf<KeyringEvent>({
  KeyActivated: ({ data }) => integrationEvent('signing_key.activated', { kid: data.kid }),
  KeyRetired: ({ data }) => integrationEvent('signing_key.retired', { kid: data.kid }),
  KeyRemoved: ({ data }) => integrationEvent('signing_key.removed', { kid: data.kid }),
});
