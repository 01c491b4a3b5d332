/** Draws the secrets of links and codes, and records whose they are. */
import type { MailPurpose } from '@cardea/contracts';
import type { DerivedKeys } from '@cardea/crypto';
import { accept, type Command, refuse, type Streams } from '@cardea/event-store';
import type { Random } from '@cardea/runtime';
import { drawLinkToken, onetimeIdOf } from '../adapters/link-token.ts';
import type { OtpFormat } from '../workspaces/workspaces.module.ts';
import { codeIds, drawCode, printCode } from './mailed-code.ts';
import { onetimes } from './onetimes/onetime.ts';

/** Codes that are drawn until one is free. */
const DRAWS_MAX = 8;

type Dependencies = {
  readonly streams: Streams;
  /** Derived for `otp/v1`. */
  readonly codeKeys: DerivedKeys;
  readonly random: Random;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
};

type Waiting = {
  readonly mailbox: string;
  readonly purpose: MailPurpose;
  readonly generation: number;
  readonly tenant_id: string;
};

/** The user whose secret it is; without an epoch the account is yet to be created. */
type Holder = { readonly id: string; readonly epoch?: number | undefined };

export async function issueLink(
  { streams, random, systemCommand }: Dependencies,
  { mailbox, purpose, generation, tenant_id: tenantId }: Waiting,
  of: {
    readonly user: Holder;
    readonly expiresAt: string;
    readonly invitationId: string | undefined;
    readonly page: string;
  },
): Promise<string> {
  const token = drawLinkToken(tenantId, random);
  const id = onetimeIdOf(purpose, tenantId, token);
  const data = {
    purpose,
    ...holderOf(of.user),
    mailbox,
    generation,
    expires_at: of.expiresAt,
    ...(of.invitationId === undefined ? {} : { invitation_id: of.invitationId }),
  };
  await streams.decideOn(onetimes, id, systemCommand(tenantId, 'issue', id), () =>
    accept({ type: 'Issued', data }),
  );
  // After the # it reaches no server log and no link scanner.
  return `${of.page}#token=${token}`;
}

/** Names the user whose secret it is, and what it rests on. */
const holderOf = ({ id, epoch }: Holder) => ({
  user_id: id,
  ...(epoch === undefined ? {} : { user_epoch: epoch }),
});

/** A code that was drawn before stays what it was, so another one is drawn. */
export async function issueCode(
  { streams, random, systemCommand, codeKeys }: Dependencies,
  { mailbox, purpose, generation, tenant_id: tenantId }: Waiting,
  of: { readonly user: Holder; readonly expiresAt: string; readonly format: OtpFormat },
): Promise<string> {
  const holder = holderOf(of.user);
  const data = { purpose, ...holder, mailbox, generation, expires_at: of.expiresAt };
  for (let draw = 0; draw < DRAWS_MAX; draw += 1) {
    const code = drawCode(of.format, random);
    const named = { format: of.format, code };
    const [id = ''] = codeIds(codeKeys, tenantId, named, { mailbox, generation });
    const command = systemCommand(tenantId, 'issue', id, String(generation), mailbox);
    const issued = await streams.decideOn(onetimes, id, command, (onetime) =>
      onetime.status === 'none' ? accept({ type: 'Issued', data }) : refuse('taken'),
    );
    if (issued.accepted) return printCode(code);
  }
  throw new Error('every code that was drawn is taken');
}
