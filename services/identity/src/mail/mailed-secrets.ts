/** Generates the secrets of links and codes, and records their owners. */
import type { MailPurpose } from '@cardea/contracts';
import type { DerivedKeys } from '@cardea/crypto';
import { accept, type Command, refuse, type Streams } from '@cardea/event-store';
import type { Random } from '@cardea/runtime';
import { drawLinkToken, onetimeIdOf } from '../adapters/link-token.ts';
import type { OtpFormat } from '../workspaces/workspaces.module.ts';
import { codeIds, drawCode, printCode } from './mailed-code.ts';
import { onetimes } from './onetimes/onetime.ts';

/** How many codes are generated until one is unused. */
const DRAWS_MAX = 8;

type Dependencies = {
  readonly streams: Streams;
  /** Keys derived for `otp/v1`. */
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

/** The user of the secret. Without an epoch the account is not created yet. */
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
  // The part after `#` reaches neither server logs nor link scanners.
  return `${of.page}#token=${token}`;
}

/** The user of the secret, and the state that it depends on. */
const holderOf = ({ id, epoch }: Holder) => ({
  user_id: id,
  ...(epoch === undefined ? {} : { user_epoch: epoch }),
});

/** A code that is in use keeps its owner, so another code is generated. */
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
