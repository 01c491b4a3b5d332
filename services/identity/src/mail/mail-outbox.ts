/** Asks for mail, and takes the secrets that came by mail back. Asking looks nobody up. */
import type { MailPurpose } from '@cardea/contracts';
import { neverErased, type Sealer } from '@cardea/crypto';
import type { Command, Streams } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import { onetimeIdOf, tenantOfToken } from '../adapters/link-token.ts';
import type { Language } from '../pages/texts.ts';
import { mailboxField, mailDetailsField } from '../streams/encrypted-fields.ts';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import type { NewDevice } from './mailboxes/email-templates.ts';
import {
  type Mailbox,
  mailboxes,
  pendingMailOf,
  requestMail,
  useSecret,
} from './mailboxes/mailbox.ts';
import { onetimes } from './onetimes/onetime.ts';

export type MailRequest = {
  readonly purpose: MailPurpose;
  readonly email: string;
  readonly emailHash: string;
  readonly userId: string | null;
  /** That whoever asks reads; undefined: the tenant's. */
  readonly language?: Language | undefined;
  /** Of purpose `invitation`. */
  readonly invitationId?: string;
  /** Of purpose `magic_link`: the page of the authorization server at which it was asked for. */
  readonly interaction?: string;
  /** Of purpose `new_device`. */
  readonly newDevice?: NewDevice;
};

export type Redeemed =
  | {
      readonly userId: string;
      readonly mailbox: string;
      readonly invitationId: string | null;
    }
  | { readonly fault: 'invalid' | 'expired' };

export type MailOutbox = {
  readonly request: (mail: MailRequest, command: Command) => Promise<bigint | undefined>;
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
    request: async ({ email, emailHash, newDevice, ...of }, command) => {
      const { now, metadata } = command;
      const place = mailboxField(metadata.tenantId, emailHash, now);
      const sealed = neverErased(await sealer.seal(metadata.tenantId, place, email));
      const details =
        newDevice === undefined
          ? undefined
          : neverErased(
              await sealer.seal(
                metadata.tenantId,
                mailDetailsField(metadata.tenantId, emailHash, now),
                JSON.stringify(newDevice),
              ),
            );
      // Read even where it is cached: the time must not tell whether there was mail for the address before.
      const { tenantId } = metadata;
      const { revision } = await streams.load(mailboxes, { tenantId, id: emailHash });
      const decide = (mailbox: Mailbox) =>
        requestMail({ ...of, email: sealed, details, now }, mailbox);
      const rule = revision === 0 ? ({ isNew: true, decide } as const) : decide;
      return (await streams.decideOn(mailboxes, emailHash, command, rule)).position;
    },
    peek: async (purpose, token, { tenantId, now }) => {
      const onetime = await find(purpose, token, tenantId);
      if (onetime === undefined) return { fault: 'invalid' };
      const { state } = await streams.load(mailboxes, { tenantId, id: onetime.mailbox });
      const used = useSecret({ purpose, generation: onetime.generation, now }, state);
      if (used.accepted) return onetime;
      return { fault: used.reason === 'expired' ? 'expired' : 'invalid' };
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
      return { fault: used.reason === 'expired' ? 'expired' : 'invalid' };
    },
  };
}
