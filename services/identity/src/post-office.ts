/** Asks for mail, and takes the secrets that came by mail back. Asking looks nobody up. */
import type { MailPurpose } from '@cardea/contracts';
import type { Sealer } from '@cardea/crypto';
import type { Command, Streams } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import { onetimeIdOf, tenantOfToken } from './adapters/link-token.ts';
import type { Folded } from './folded.ts';
import { mailboxes, requestMail, useSecret } from './mailboxes/mailbox.ts';
import { onetimes } from './onetimes/onetime.ts';
import { mailboxPlace } from './seals.ts';

export type MailRequest = {
  readonly purpose: MailPurpose;
  readonly email: string;
  readonly emailHash: string;
  readonly userId: string | null;
};

export type Redeemed =
  | { readonly userId: string; readonly mailbox: string }
  | { readonly fault: 'invalid' | 'expired' };

export type PostOffice = {
  readonly request: (mail: MailRequest, command: Command) => Promise<bigint | undefined>;
  /** Uses the secret up; of two at once one wins. */
  readonly redeem: (purpose: MailPurpose, token: string, command: Command) => Promise<Redeemed>;
};

type Needs = { readonly streams: Streams; readonly sealer: Sealer; readonly folded: Folded };

export function postOffice({ streams, sealer, folded }: Needs): PostOffice {
  return {
    request: async ({ purpose, email, emailHash, userId }, command) => {
      const { now, metadata } = command;
      const place = mailboxPlace(metadata.tenantId, emailHash, now);
      const sealed = await sealer.seal(metadata.tenantId, place, email);
      const decided = await streams.decideOn(mailboxes, emailHash, command, (mailbox) =>
        requestMail({ purpose, email: sealed, userId, now }, mailbox),
      );
      return decided.position;
    },
    redeem: async (purpose, token, command) => {
      const { tenantId } = command.metadata;
      if (tenantOfToken(token) !== tenantId) return { fault: 'invalid' };
      const id = onetimeIdOf(purpose, tenantId, token);
      const onetime = await folded.load(onetimes, { tenantId, id });
      if (onetime.status === 'none' || onetime.purpose !== purpose) return { fault: 'invalid' };
      const { mailbox, generation, userId } = onetime;
      const own = { ...command, id: uuidFrom(command.id, 'redeem') };
      const use = { purpose, generation, now: command.now };
      const used = await streams.decideOn(mailboxes, mailbox, own, (state) =>
        useSecret(use, state),
      );
      if (used.accepted) return { userId, mailbox };
      return { fault: used.reason === 'expired' ? 'expired' : 'invalid' };
    },
  };
}
