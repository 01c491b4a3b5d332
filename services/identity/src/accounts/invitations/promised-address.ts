/**
 * Whether an open invitation with roles above the administrator's was mailed to the address. The administrator may not
 * replace that invitation, nor create an account with its address.
 */
import type { Streams } from '@cardea/event-store';
import type { MailOutbox } from '../../mail/mail.module.ts';
import type { Administrator } from '../../ranks/ranks.ts';
import { invitations } from './invitation.ts';
import { stands } from './revoke/revoke.ts';

export type IsPromised = (of: {
  readonly tenantId: string;
  readonly emailHash: string;
  readonly by: Administrator;
  readonly now: Date;
}) => Promise<boolean>;

export const promisedAddress =
  (needs: {
    readonly streams: Pick<Streams, 'load'>;
    readonly mailOutbox: Pick<MailOutbox, 'lastInvitation'>;
  }): IsPromised =>
  async ({ tenantId, emailHash, by, now }) => {
    const id = await needs.mailOutbox.lastInvitation({ tenantId, mailbox: emailHash });
    if (id === undefined) return false;
    const { state } = await needs.streams.load(invitations, { tenantId, id });
    return stands(state, { by, now });
  };
