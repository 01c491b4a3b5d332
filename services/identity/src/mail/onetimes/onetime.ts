/** A mailed secret, named by its hash. It names its mailbox, which tells whether the secret still works. */
import type { MailPurpose } from '@cardea/contracts';
import type { Stream } from '@cardea/event-store';
import type { Basis } from '../../streams/basis.ts';

export type Onetime =
  | { readonly status: 'none' }
  | {
      readonly status: 'issued';
      readonly purpose: MailPurpose;
      readonly userId: string;
      readonly mailbox: string;
      readonly generation: number;
      readonly invitationId: string | null;
      readonly basis: Basis;
    };

export type OnetimeEvent = {
  readonly type: 'Issued';
  readonly concerns?: never;
  readonly data: {
    readonly purpose: MailPurpose;
    readonly user_id: string;
    readonly mailbox: string;
    readonly generation: number;
    readonly expires_at: string;
    /** The account's epoch. Missing if there is no account yet. */
    readonly user_epoch?: number;
    /** Set for the purpose `invitation`. */
    readonly invitation_id?: string;
  };
};

export const onetimes: Stream<Onetime, OnetimeEvent> = {
  noun: 'onetime',
  initial: { status: 'none' },
  evolve: (_before, { data }) => ({
    status: 'issued',
    purpose: data.purpose,
    userId: data.user_id,
    mailbox: data.mailbox,
    generation: data.generation,
    invitationId: data.invitation_id ?? null,
    basis: { user_epoch: data.user_epoch },
  }),
};
