/**
 * Mails a user about each change to the ways of signing in to their account. Nobody can switch this off. Many changes
 * at once are counted in one mail (`mail/mailboxes/request-notice.ts`).
 */
import type { Sealed, Sealer } from '@cardea/crypto';
import {
  type Command,
  type EventHandlers,
  type EventMetadata,
  handlersByType,
  type RecordedEvent,
} from '@cardea/event-store';
import { languageOfLocale } from '@cardea/pages';
import type { Clock, GeoIp } from '@cardea/runtime';
import { policy, type RateLimits } from '@cardea/service';
import { type ExistingUser, exists, type UserDirectory } from '../accounts/accounts.module.ts';
import { deviceOf } from '../adapters/device.ts';
import { LIMITS } from '../http/limits.ts';
import { type MailDetails, type MailOutbox, whenceOf } from '../mail/mail.module.ts';
import {
  type ChangeNotice,
  SECURITY_CHANGES_OF,
  type SecurityChange,
  type SecurityEvent,
} from './security-changes.ts';

/** The maximum age of a change to notify of. A policy that is new, or was stopped for long, skips older ones. */
const TOLD_WITHIN_MS = 24 * 60 * 60_000;

export type NoticesDependencies = {
  readonly clock: Pick<Clock, 'now'>;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly limits: RateLimits;
  readonly geoIp: GeoIp;
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf' | 'open'>;
  readonly mailOutbox: Pick<MailOutbox, 'notify'>;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
};

export const notifySecurityChanges = (deps: NoticesDependencies) =>
  policy<SecurityEvent>()({ name: 'notify_security_changes', on: handlers(deps) });

type Dated = Pick<ExistingUser, 'createdAt' | 'reclaimedAt'>;
type Decide = (event: RecordedEvent, user: Dated) => ChangeNotice | undefined;
const LONG_THERE: Dated = { createdAt: '', reclaimedAt: null };

/** A handler for each event that the table has a decision for. */
function handlers(
  deps: NoticesDependencies,
): EventHandlers<SecurityEvent, SecurityChange, [], Promise<void>> {
  const decisions = handlersByType<[Dated], ChangeNotice | undefined>(SECURITY_CHANGES_OF);
  const all = Object.entries(decisions).map(([type, decide]) => [
    type,
    (event: RecordedEvent) => notify(deps, event, decide),
  ]);
  return { ...SECURITY_CHANGES_OF, ...Object.fromEntries(all) };
}

async function notify(
  deps: NoticesDependencies,
  event: RecordedEvent,
  decide: Decide,
): Promise<void> {
  const { clock, userDirectory, mailOutbox, systemCommand } = deps;
  const { id, data, metadata, time } = event;
  if (clock.now().getTime() - time.getTime() > TOLD_WITHIN_MS) return;
  // Most events lead to no notice, so no account is read for a sign-up or a sign-in.
  if (decide(event, LONG_THERE) === undefined) return;
  const { tenantId } = metadata;
  const { id: own, user_id: userId = own } = data as { readonly [name: string]: string };
  const user = await userDirectory.byId(tenantId, String(userId));
  // A person who was only invited has no account yet.
  if (!exists(user) || user.status === 'invited') return;
  const told = decide(event, user);
  if (told === undefined) return;
  const { locale } = await userDirectory.open(user);
  const command = systemCommand(tenantId, 'security notice', id);
  const details: MailDetails = { ...told, at: time.toISOString(), ...(await whence(deps, event)) };
  const language = languageOfLocale(locale);
  for (const { change, hash, sealed, verified } of addresseesOf(event, user)) {
    if (!(await mayBeTold(deps, tenantId, { id: user.id, emailVerified: verified }))) continue;
    const email = await userDirectory.emailOf({ id: user.id, email: sealed });
    if (email === null) continue;
    const notice = { email, emailHash: hash, userId: user.id, language };
    await mailOutbox.notify({ ...notice, details: { ...details, ...change } }, command);
  }
}

type Addressee = {
  readonly sealed: Sealed;
  readonly hash: string;
  readonly verified: boolean;
  readonly change?: Pick<MailDetails, 'change'>;
};

/** The account's current address, and the address that a change has just replaced. */
function addresseesOf({ type, data }: RecordedEvent, user: ExistingUser): readonly Addressee[] {
  const { email: sealed, emailHash: hash, emailVerified: verified, previousEmails = [] } = user;
  const current = { sealed, hash, verified };
  if (type !== 'EmailChanged') return [current];
  const { previous_hash: left } = data as { readonly previous_hash: string };
  const before = previousEmails.filter((previous) => previous.hash === left);
  const change = { change: 'email_left' } as const;
  return [current, ...before.map((previous) => ({ ...previous, sealed: previous.email, change }))];
}

/** An address that was never proven may belong to another person, whose mailbox must not be filled. */
async function mayBeTold(
  { limits }: Pick<NoticesDependencies, 'limits'>,
  tenantId: string,
  { id, emailVerified }: Pick<ExistingUser, 'id' | 'emailVerified'>,
): Promise<boolean> {
  if (emailVerified) return true;
  return (await limits.take([LIMITS.unprovenNoticesByUser, `${tenantId}:${id}`])).allowed;
}

/** The device and location of the change. If an administrator made it for the user, only that fact is given. */
async function whence(
  { sealer, geoIp }: Pick<NoticesDependencies, 'sealer' | 'geoIp'>,
  { metadata, log }: RecordedEvent,
): Promise<MailDetails> {
  if (isByAdministrator(metadata, log)) return { isByAdministrator: true };
  const open = async (sealed: Sealed | undefined, field: 'ip' | 'user_agent') =>
    sealed === undefined ? null : sealer.open(sealed, { streamId: 'context', field });
  const [ip, userAgent] = await Promise.all([
    open(metadata.ip, 'ip'),
    open(metadata.userAgent, 'user_agent'),
  ]);
  return whenceOf(geoIp, ip, deviceOf(userAgent));
}

/** An API key of the tenant is recorded as actor `system` with its own id. */
const isByAdministrator = (
  { actor }: Pick<EventMetadata, 'actor'>,
  log: RecordedEvent['log'],
): boolean => actor.type === 'admin' || (actor.type === 'system' && actor.id !== log);
