/** A failed authentication of a client. It is recorded and has no other effect. */
import type { Stream } from '@cardea/event-store';

export type ClientFailureReason = 'wrong_secret' | 'wrong_assertion' | 'wrong_method';

export type ClientFailureEvent = {
  readonly type: 'ClientAuthFailed';
  readonly data: {
    readonly client_id: string;
    readonly reason: ClientFailureReason;
    readonly at: string;
  };
};

export const clientFailures: Stream<{ readonly status: 'none' }, ClientFailureEvent> = {
  noun: 'clientfailure',
  initial: { status: 'none' },
  stateCarrying: true,
  evolve: (state) => state,
};
