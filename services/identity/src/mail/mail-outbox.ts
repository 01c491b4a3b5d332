/** Asks for mail, and takes the secrets that came by mail back. Asking looks nobody up. */
import type { MailPurpose } from '@cardea/contracts';
import { neverErased, type Sealer } from '@cardea/crypto';
import type { Command, Streams } from '@cardea/event-store';
import type { Language } from '@cardea/mail';
import { uuidFrom } from '@cardea/runtime';
import { onetimeIdOf, tenantOfToken } from '../adapters/link-token.ts';
import type { Basis } from '../streams/basis.ts';
import { mailboxField, mailDetailsField } from '../streams/encrypted-fields.ts';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import type { MailDetails } from './mailboxes/mail-details.ts';
import {
  type Mailbox,
  mailboxes,
  pendingMailOf,
  requestMail,
  useSecret,
} from './mailboxes/mailbox.ts';
import { requestNotice } from './mailboxes/request-notice.ts';
import { onetimes } from './onetimes/onetime.ts';

export type MailRequest = {
  readonly purpose: MailPurpose;
  readonly email: string;
  readonly emailHash: string;
  readonly userId: string | null;
  /** That whoever asks reads; undefined: the tenant's. */
  readonly language?: Language | undefined;
  /** Set for the purpose `invitation`. */
  readonly invitationId?: string;
  /** For the purposes `magic_link` and `verify`: the page of the authorization server at which it was asked for. */
  readonly interaction?: string;
  /** Who asks, so that others void nothing of theirs; undefined: it voids all before it. */
  readonly asker?: string | undefined;
  readonly details?: MailDetails | undefined;
};

export type Notice = Pick<MailRequest, 'email' | 'emailHash' | 'language'> & {
  readonly userId: string;
  readonly details: MailDetails;
};

export type Redeemed =
  | {
      readonly userId: string;
      readonly mailbox: string;
      readonly invitationId: string | null;
      /** Void once this has fallen, which the caller decides together with what the secret is for. */
      readonly basis: Basis;
    }
  | { readonly fault: MailedFault };

/** `used`: by whoever held it before; `invalid`: unknown, or a newer one has replaced it. */
export type MailedFault = 'invalid' | 'expired' | 'used';

export type MailOutbox = {
  readonly request: (mail: MailRequest, command: Command) => Promise<bigint | undefined>;
  /** Tells somebody of a change to their account's security; of many at once one mail counts them. */
  readonly notify: (notice: Notice, command: Command) => Promise<void>;
  /** The invitation that was last mailed to this mailbox. */
  readonly lastInvitation: (of: {
    readonly tenantId: string;
    readonly mailbox: string;
  }) => Promise<string | undefined>;
  /** What a secret would come to, without using it. */
  readonly peek: (
    purpose: MailPurpose,
    token: string,
    of: { readonly tenantId: string; readonly now: Date },
  ) => Promise<Redeemed>;
  /** Uses the secret up; of two at once one wins. */
  readonly redeem: (purpose: MailPurpose, token: string, command: Command) => Promise<Redeemed>;
};

type Dependencies = {
  readonly streams: Streams;
  readonly sealer: Sealer;
  readonly snapshots: SnapshotCache;
};

export function mailOutbox({ streams, sealer, snapshots }: Dependencies): MailOutbox {
  const find = async (purpose: MailPurpose, token: string, tenantId: string) => {
    if (tenantOfToken(token) !== tenantId) return undefined;
    const id = onetimeIdOf(purpose, tenantId, token);
    const onetime = await snapshots.load(onetimes, { tenantId, id });
    return onetime.status === 'issued' && onetime.purpose === purpose ? onetime : undefined;
  };

  return {
    lastInvitation: async ({ tenantId, mailbox }) => {
      const { state } = await streams.load(mailboxes, { tenantId, id: mailbox });
      return pendingMailOf(state, 'invitation')?.invitation_id;
    },
    request: async ({ email, emailHash, details, ...of }, command) => {
      const sealed = await sealedMail(sealer, { email, emailHash, details }, command);
      // Read even where it is cached: the time must not tell whether there was mail for the address before.
      const { tenantId } = command.metadata;
      const { revision } = await streams.load(mailboxes, { tenantId, id: emailHash });
      const decide = (mailbox: Mailbox) =>
        requestMail({ ...of, ...sealed, now: command.now }, mailbox);
      const rule = revision === 0 ? ({ isNew: true, decide } as const) : decide;
      return (await streams.decideOn(mailboxes, emailHash, command, rule)).position;
    },
    notify: async ({ email, emailHash, details, userId, language }, command) => {
      const sealed = await sealedMail(sealer, { email, emailHash, details }, command);
      const request = { ...sealed, userId, language, now: command.now };
      await streams.decideOn(mailboxes, emailHash, command, (mailbox) =>
        requestNotice(request, mailbox),
      );
    },
    peek: async (purpose, token, { tenantId, now }) => {
      const onetime = await find(purpose, token, tenantId);
      if (onetime === undefined) return { fault: 'invalid' };
      const { state } = await streams.load(mailboxes, { tenantId, id: onetime.mailbox });
      const used = useSecret({ purpose, generation: onetime.generation, now }, state);
      if (used.accepted) return onetime;
      return { fault: used.reason === 'superseded' ? 'invalid' : used.reason };
    },
    redeem: async (purpose, token, command) => {
      const onetime = await find(purpose, token, command.metadata.tenantId);
      if (onetime === undefined) return { fault: 'invalid' };
      const own = { ...command, id: uuidFrom(command.id, 'redeem') };
      const use = { purpose, generation: onetime.generation, now: command.now };
      const used = await streams.decideOn(mailboxes, onetime.mailbox, own, (state) =>
        useSecret(use, state),
      );
      if (used.accepted) return onetime;
      return { fault: used.reason === 'superseded' ? 'invalid' : used.reason };
    },
  };
}

async function sealedMail(
  sealer: Sealer,
  { email, emailHash, details }: Pick<MailRequest, 'email' | 'emailHash' | 'details'>,
  { now, metadata: { tenantId } }: Command,
) {
  const place = mailboxField(tenantId, emailHash, now);
  const address = neverErased(await sealer.seal(tenantId, place, email));
  if (details === undefined) return { email: address, details: undefined };
  const field = mailDetailsField(tenantId, emailHash, now);
  const sealed = await sealer.seal(tenantId, field, JSON.stringify(details));
  return { email: address, details: neverErased(sealed) };
}
