/** Publishes the facts about consents that other services receive. */
import type { identityEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import { type ConsentEvent, shownGrant } from './consent.ts';

export const consentsRelay = relay<ConsentEvent, typeof identityEvents>({
  ConsentGranted: ({ data }) => ({ type: 'consent.granted', data: published(data) }),
  ConsentExtended: ({ data }) => ({ type: 'consent.granted', data: published(data) }),
  ConsentRevoked: ({ data: { id, user_id, client_id } }) => ({
    type: 'consent.revoked',
    data: { id, user_id, client_id },
  }),
});

const published = ({
  id,
  user_id,
  client_id,
  granted,
}: Extract<ConsentEvent, { type: 'ConsentGranted' }>['data']) => ({
  id,
  user_id,
  client_id,
  ...shownGrant(granted),
});
