/** Requests mails, and verifies the secrets that were mailed. A request looks up no account. */
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
  /** The requester's language. If undefined, the tenant's language is used. */
  readonly language?: Language | undefined;
  /** Set for the purpose `invitation`. */
  readonly invitationId?: string;
  /** The interaction in which the mail was requested, for the purposes `magic_link` and `verify`. */
  readonly interaction?: string;
  /**
   * The requester. A request voids only earlier mails of the same requester. If undefined, it voids all earlier ones.
   */
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
      /**
       * The state that the secret depends on. If it has ended, the secret is void. The caller checks it together with
       * its decision.
       */
      readonly basis: Basis;
    }
  | { readonly fault: MailedFault };

/** `used`: used before. `invalid`: unknown, or replaced by a newer one. */
export type MailedFault = 'invalid' | 'expired' | 'used';

export type MailOutbox = {
  readonly request: (mail: MailRequest, command: Command) => Promise<bigint | undefined>;
  /** Notifies a user of a change to their account's security. Many at once are counted in one mail. */
  readonly notify: (notice: Notice, command: Command) => Promise<void>;
  /** The last invitation that was mailed to this mailbox. */
  readonly lastInvitation: (of: {
    readonly tenantId: string;
    readonly mailbox: string;
  }) => Promise<string | undefined>;
  /** Returns the result of `redeem` without consuming the secret. */
  readonly peek: (
    purpose: MailPurpose,
    token: string,
    of: { readonly tenantId: string; readonly now: Date },
  ) => Promise<Redeemed>;
  /** Consumes the secret. Of two concurrent calls one succeeds. */
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
      // The stream is read even if it is cached, so that the time does not reveal whether there was mail for the
      // address before.
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
