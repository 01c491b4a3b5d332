/** Verifies mailed codes. They are found by their keyed hash and consumed in their mailbox. */
import type { DerivedKeys } from '@cardea/crypto';
import type { Command, Streams } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import type { Basis } from '../streams/basis.ts';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import type { OtpFormat } from '../workspaces/workspaces.module.ts';
import {
  mailboxes,
  pendingOfAsker,
  type SignInCode,
  type TryCode,
  tryCode,
  useSecret,
} from './mailboxes/mailbox.ts';
import { codeIds, readCode } from './mailed-code.ts';
import { onetimes } from './onetimes/onetime.ts';

/** `used`: the registration's code or link was used before. */
export type CodeFault = 'invalid' | 'expired' | 'too_many_attempts' | 'used';
/**
 * Codes that are mailed beside the links of a registration and of a new address. Wrong codes are counted where they are
 * typed.
 */
type BesideLink = 'verify' | 'email_change';
type CodePurpose = SignInCode | BesideLink;
export type FoundCode = {
  readonly purpose: CodePurpose;
  readonly userId: string;
  readonly mailbox: string;
  readonly generation: number;
  readonly basis: Basis;
};

export type CodeRedemption = {
  /**
   * Returns undefined for a code that was never sent to this mailbox, or to any mailbox of the tenant if none is named.
   */
  readonly find: (
    of: {
      /** Undefined for a code to sign in with. */
      readonly purpose?: CodePurpose;
      readonly format: OtpFormat;
      readonly typed: string;
      readonly mailbox: string | undefined;
      /** The person whose code it must be. Six-digit codes are compared with that person's code only. */
      readonly asker?: string | undefined;
    },
    tenantId: string,
  ) => Promise<FoundCode | undefined>;
  /** Consumes the code. Of two concurrent calls one succeeds. */
  readonly redeem: (code: FoundCode, command: Command) => Promise<CodeFault | 'redeemed'>;
  /** Counts a wrong code against the code that this asker was sent. */
  readonly miss: (
    of: {
      readonly purpose: SignInCode;
      readonly mailbox: string;
      readonly asker: string | undefined;
    },
    command: Command,
  ) => Promise<CodeFault>;
};

type Dependencies = {
  readonly streams: Streams;
  readonly snapshots: SnapshotCache;
  readonly codeKeys: DerivedKeys;
};

export function codeRedemption({ streams, snapshots, codeKeys }: Dependencies): CodeRedemption {
  const tried = async (
    { mailbox, ...code }: Omit<TryCode, 'now'> & { readonly mailbox: string },
    command: Command,
  ): Promise<CodeFault | 'redeemed'> => {
    const own = { ...command, id: uuidFrom(command.id, 'redeem') };
    const decided = await streams.decideOn(mailboxes, mailbox, own, (state) =>
      tryCode({ ...code, now: command.now }, state),
    );
    return decided.accepted ? 'redeemed' : decided.reason;
  };
  const generationOf = async (
    { tenantId, id }: { readonly tenantId: string; readonly id: string },
    purpose: CodePurpose,
    asker: string | undefined,
  ) => {
    const { state } = await streams.load(mailboxes, { tenantId, id });
    return pendingOfAsker(state, purpose, asker)?.generation ?? 0;
  };
  const used = async (
    { mailbox, generation, purpose }: FoundCode & { readonly purpose: BesideLink },
    command: Command,
  ): Promise<CodeFault | 'redeemed'> => {
    const own = { ...command, id: uuidFrom(command.id, 'redeem') };
    const decided = await streams.decideOn(mailboxes, mailbox, own, (state) =>
      useSecret({ purpose, generation, now: command.now }, state),
    );
    if (decided.accepted) return 'redeemed';
    return decided.reason === 'superseded' ? 'invalid' : decided.reason;
  };
  return {
    find: async ({ purpose = 'otp', format, typed, mailbox, asker }, tenantId) => {
      const code = readCode(format, typed);
      if (code === undefined) return undefined;
      const of =
        mailbox === undefined || format === 'base32'
          ? undefined
          : {
              mailbox,
              generation: await generationOf({ tenantId, id: mailbox }, purpose, asker),
            };
      for (const id of codeIds(codeKeys, tenantId, { format, code }, of)) {
        const onetime = await snapshots.load(onetimes, { tenantId, id });
        if (onetime.status === 'none' || onetime.purpose !== purpose) continue;
        if (mailbox === undefined || onetime.mailbox === mailbox) return { ...onetime, purpose };
      }
      return undefined;
    },
    redeem: (code, command) => {
      const { purpose, mailbox, generation } = code;
      return purpose === 'verify' || purpose === 'email_change'
        ? used({ ...code, purpose }, command)
        : tried({ purpose, mailbox, generation }, command);
    },
    miss: async ({ purpose, mailbox, asker }, command) => {
      // The mailbox is read here whether or not there was mail: a refusal from the cache would be decided twice.
      const { tenantId } = command.metadata;
      const { state } = await streams.load(mailboxes, { tenantId, id: mailbox });
      const seen = tryCode({ purpose, generation: null, asker, now: command.now }, state);
      if (!seen.accepted && seen.events.length === 0) return seen.reason;
      const came = await tried({ purpose, mailbox, asker, generation: null }, command);
      return came === 'redeemed' ? 'invalid' : came;
    },
  };
}
