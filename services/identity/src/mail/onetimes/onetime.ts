/**
 * A secret that was mailed, named by its hash. It says where it belongs; whether it still works is for
 * its mailbox to say.
 */
import type { MailPurpose } from '@cardea/contracts';
import type { Stream } from '@cardea/event-store';

export type Onetime =
  | { readonly status: 'none' }
  | {
      readonly status: 'issued';
      readonly purpose: MailPurpose;
      readonly userId: string;
      readonly mailbox: string;
      readonly generation: number;
      readonly invitationId: string | null;
    };

export type OnetimeEvent = {
  readonly type: 'Issued';
  readonly data: {
    readonly purpose: MailPurpose;
    readonly user_id: string;
    readonly mailbox: string;
    readonly generation: number;
    readonly expires_at: string;
    /** Of purpose `invitation`. */
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
  }),
};
