/** An administrator acts as a member for ten minutes. It is recorded once, under the token's id. */
import type { Stream } from '@cardea/event-store';

export type Impersonation = { readonly status: 'none' } | { readonly status: 'started' };

export type ImpersonationEvent = {
  readonly type: 'ImpersonationStarted';
  readonly data: {
    /** The id of the token. */
    readonly id: string;
    readonly user_id: string;
    readonly admin_id: string;
    /** The reason that the administrator gave. */
    readonly reason: string;
    readonly expires_at: string;
  };
};

export const impersonations: Stream<Impersonation, ImpersonationEvent> = {
  noun: 'impersonation',
  initial: { status: 'none' },
  evolve: () => ({ status: 'started' }),
};
