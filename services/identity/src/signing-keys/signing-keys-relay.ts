/** Publishes the facts about the key ring that other services receive. */
import type { identityEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import type { KeyringEvent } from './keyring.ts';

export const signingKeysRelay = relay<KeyringEvent, typeof identityEvents>({
  KeyActivated: ({ data }) => ({ type: 'signing_key.activated', data: { kid: data.kid } }),
  KeyRetired: ({ data }) => ({ type: 'signing_key.retired', data: { kid: data.kid } }),
  KeyRemoved: ({ data }) => ({ type: 'signing_key.removed', data: { kid: data.kid } }),
});
