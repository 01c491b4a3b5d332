/** An administrator looks through a member's eyes for ten minutes; recorded once, under the token's id. */
import type { Stream } from '@cardea/event-store';

export type Impersonation = { readonly status: 'none' } | { readonly status: 'started' };

export type ImpersonationEvent = {
  readonly type: 'ImpersonationStarted';
  readonly data: {
    /** Id of the token. */
    readonly id: string;
    readonly user_id: string;
    readonly admin_id: string;
    /** In the words of the administrator. */
    readonly reason: string;
    readonly expires_at: string;
  };
};

export const impersonations: Stream<Impersonation, ImpersonationEvent> = {
  noun: 'impersonation',
  initial: { status: 'none' },
  evolve: () => ({ status: 'started' }),
};
