/**
 * Performs an address change that its person requested, once everything is proven. The new address is reserved first.
 * The request that completes the proof performs the change at once; if that request dies, a policy performs it.
 */
import { accept, type Command, type Streams, WriteContention } from '@cardea/event-store';
import { failpoint, uuidFrom } from '@cardea/runtime';
import { type Emails, holdingEmail } from './emails.ts';
import type { UserDirectory } from './user-directory.ts';
import {
  changeEmail,
  type EmailChangeRefusal,
  type StopEmailChange,
  stopEmailChange,
} from './users/change-email/change-email.ts';
import { exists, type User, type UserEvent, users } from './users/user.ts';
import { yieldsAddress } from './users/yield-address.ts';

type Of = { readonly tenantId: string; readonly userId: string };
type Completed = {
  readonly outcome: 'changed' | 'waiting' | 'taken' | 'void';
  readonly position?: bigint | undefined;
};

export type EmailChanges = {
  readonly complete: (
    of: Of & { readonly changeId: string },
    command: Command,
  ) => Promise<Completed>;
  readonly stop: (
    of: Of & Pick<StopEmailChange, 'by' | 'changeId'>,
    command: Command,
  ) => Promise<bigint | undefined>;
};

type Dependencies = {
  readonly streams: Streams;
  readonly userDirectory: Pick<UserDirectory, 'byHash' | 'byId'>;
  readonly emails: Emails;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
};

/** The number of attempts to reserve the address. Another process may release it in between. */
const ATTEMPTS_MAX = 3;

export function emailChanges(needs: Dependencies): EmailChanges {
  const { streams, userDirectory } = needs;
  const stop: EmailChanges['stop'] = async ({ userId, by, changeId }, command) => {
    const own = { ...command, id: uuidFrom(command.id, 'stop email change') };
    const decided = await streams.decideOn(users, userId, own, (user) =>
      stopEmailChange({ by, changeId, now: command.now }, user),
    );
    return decided.position;
  };
  const giveUp = async (
    of: Of & { readonly changeId: string },
    emailHash: string,
    command: Command,
  ) => {
    await needs.emails.release({ ...of, emailHash }, command);
    await stop({ ...of, by: 'system' }, command);
  };
  return {
    stop,
    complete: async (of, command) => {
      const { now } = command;
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
        const user = await userDirectory.byId(of.tenantId, of.userId);
        const first = changeEmail({ changeId: of.changeId, now }, user);
        if (!first.accepted && first.reason === 'early') return { outcome: 'waiting' };
        const hash = hashOf(user, of.changeId);
        // Another process has performed the change, or the change was cancelled.
        if (hash === undefined) return { outcome: 'void' };
        if (!first.accepted) {
          await giveUp(of, hash, command);
          return { outcome: 'void' };
        }
        if (!(await reserved(needs, { ...of, emailHash: hash }, command))) {
          await stop({ ...of, by: 'system' }, command);
          return { outcome: 'taken' };
        }
        await failpoint('email.after_reserve');
        const own = { ...command, id: uuidFrom(command.id, 'change email', String(attempt)) };
        const decided = await holdingEmail<EmailChangeRefusal>(
          streams,
          { ...of, emailHash: hash },
          own,
          (state) => changeEmail({ changeId: of.changeId, now }, state),
        );
        if (decided.accepted) return { outcome: 'changed', position: decided.position };
        if (exists(decided.state) && decided.state.emailHash === hash) {
          return { outcome: 'changed', position: undefined };
        }
      }
      throw new WriteContention('others take the address and release it');
    },
  };
}

/** The hash of the new address while the change is pending. */
function hashOf(user: User, changeId: string): string | undefined {
  if (!exists(user) || user.emailChange?.id !== changeId) return undefined;
  return user.emailChange.hash;
}

/**
 * A proven address takes precedence over an account that registered it without proof: that account is abandoned. An
 * account that an administrator created or vouches for keeps it. The request and the policy may do this at the same
 * time, so each step may find that the other has already performed it.
 */
async function reserved(
  needs: Dependencies,
  of: Of & { readonly emailHash: string },
  command: Command,
): Promise<boolean> {
  if (await needs.emails.hold(of, command)) return true;
  const holder = await needs.userDirectory.byHash(of.tenantId, of.emailHash);
  if (isTakenFor(holder)) return 'id' in holder && holder.id === of.userId;
  if (yieldsToProof(holder) && !(await abandoned(needs, holder, of))) return false;
  if ('id' in holder) {
    await needs.emails.release({ ...of, userId: holder.id }, giveWay(needs, holder, of));
  }
  const again = { ...command, id: uuidFrom(command.id, 'after who gave way') };
  return needs.emails.hold(of, again);
}

type Holder = { readonly id: string; readonly emailHash: string };

const giveWay = (needs: Dependencies, { id, emailHash }: Holder, { tenantId }: Of): Command =>
  needs.systemCommand(tenantId, 'give way', id, emailHash);

async function abandoned(needs: Dependencies, holder: Holder, of: Of): Promise<boolean> {
  const { id, emailHash: email_hash } = holder;
  const command = giveWay(needs, holder, of);
  const decided = await needs.streams.decideOn(users, id, command, (state) => {
    const data = { id, email_hash, deleted_at: command.now.toISOString() };
    return yieldsToProof(state) ? accept<UserEvent>({ type: 'UserDeleted', data }) : accept();
  });
  return decided.state.status === 'deleted';
}

export const yieldsToProof = (user: User): user is Extract<User, { status: 'active' }> =>
  yieldsAddress(user) && !user.vouched;

/** Whether the new address counts as taken for this change. The mail to it says so. */
export const isTakenFor = (holder: User): boolean => exists(holder) && !yieldsToProof(holder);
