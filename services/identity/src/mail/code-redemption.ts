/** Takes codes that came by mail back: found by their keyed hash, used up in their mailbox. */
import type { DerivedKeys } from '@cardea/crypto';
import type { Command, Streams } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import type { OtpFormat } from '../workspaces/workspaces.module.ts';
import { mailboxes, pendingMailOf, tryCode } from './mailboxes/mailbox.ts';
import { codeIds, readCode } from './mailed-code.ts';
import { onetimes } from './onetimes/onetime.ts';

export type CodeFault = 'invalid' | 'expired' | 'too_many_attempts';
export type FoundCode = {
  readonly userId: string;
  readonly mailbox: string;
  readonly generation: number;
};

export type CodeRedemption = {
  /** Undefined for what was never sent to this mailbox; to any of the tenant where none is named. */
  readonly find: (
    of: {
      readonly format: OtpFormat;
      readonly typed: string;
      readonly mailbox: string | undefined;
    },
    tenantId: string,
  ) => Promise<FoundCode | undefined>;
  /** Uses the code up; of two at once one wins. */
  readonly redeem: (code: FoundCode, command: Command) => Promise<CodeFault | 'redeemed'>;
  /** Counts a wrong code against the mailbox. */
  readonly miss: (mailbox: string, command: Command) => Promise<CodeFault>;
};

type Dependencies = {
  readonly streams: Streams;
  readonly snapshots: SnapshotCache;
  readonly codeKeys: DerivedKeys;
};

export function codeRedemption({ streams, snapshots, codeKeys }: Dependencies): CodeRedemption {
  const tried = async (
    mailbox: string,
    generation: number | null,
    command: Command,
  ): Promise<CodeFault | 'redeemed'> => {
    const own = { ...command, id: uuidFrom(command.id, 'redeem') };
    const decided = await streams.decideOn(mailboxes, mailbox, own, (state) =>
      tryCode({ generation, now: command.now }, state),
    );
    return decided.accepted ? 'redeemed' : decided.reason;
  };
  const generationOf = async (tenantId: string, id: string) => {
    const { state } = await streams.load(mailboxes, { tenantId, id });
    return pendingMailOf(state, 'otp')?.generation ?? 0;
  };
  return {
    find: async ({ format, typed, mailbox }, tenantId) => {
      const code = readCode(format, typed);
      if (code === undefined) return undefined;
      const of =
        mailbox === undefined || format === 'base32'
          ? undefined
          : { mailbox, generation: await generationOf(tenantId, mailbox) };
      for (const id of codeIds(codeKeys, tenantId, { format, code }, of)) {
        const onetime = await snapshots.load(onetimes, { tenantId, id });
        if (onetime.status === 'none' || onetime.purpose !== 'otp') continue;
        if (mailbox === undefined || onetime.mailbox === mailbox) return onetime;
      }
      return undefined;
    },
    redeem: ({ mailbox, generation }, command) => tried(mailbox, generation, command),
    miss: async (mailbox, command) => {
      // Read once, whether or not there was mail: what is cached and refused would be decided on twice.
      const { tenantId } = command.metadata;
      const { state } = await streams.load(mailboxes, { tenantId, id: mailbox });
      const seen = tryCode({ generation: null, now: command.now }, state);
      if (!seen.accepted && seen.events.length === 0) return seen.reason;
      const came = await tried(mailbox, null, command);
      return came === 'redeemed' ? 'invalid' : came;
    },
  };
}
