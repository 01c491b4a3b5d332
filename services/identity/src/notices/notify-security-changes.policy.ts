/**
 * Tells somebody by mail of each change to how their account is signed in to. Nobody can switch that off; many
 * at once are counted (`mail/mailboxes/request-notice.ts`).
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

/** A policy that is new, or was stopped for long, tells nobody of what has long been. */
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
  // Most events tell nobody anything: no account is read for a sign-up or a sign-in.
  if (decide(event, LONG_THERE) === undefined) return;
  const { tenantId } = metadata;
  const { id: own, user_id: userId = own } = data as { readonly [name: string]: string };
  const user = await userDirectory.byId(tenantId, String(userId));
  // Whoever was only invited has no account of their own yet.
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

/** The address of now, and the one that the account has just left. */
function addresseesOf({ type, data }: RecordedEvent, user: ExistingUser): readonly Addressee[] {
  const { email: sealed, emailHash: hash, emailVerified: verified, previousEmails = [] } = user;
  const current = { sealed, hash, verified };
  if (type !== 'EmailChanged') return [current];
  const { previous_hash: left } = data as { readonly previous_hash: string };
  const before = previousEmails.filter((previous) => previous.hash === left);
  const change = { change: 'email_left' } as const;
  return [current, ...before.map((previous) => ({ ...previous, sealed: previous.email, change }))];
}

/** Somebody else may have registered an address that was never proven, and must not fill its mailbox. */
async function mayBeTold(
  { limits }: Pick<NoticesDependencies, 'limits'>,
  tenantId: string,
  { id, emailVerified }: Pick<ExistingUser, 'id' | 'emailVerified'>,
): Promise<boolean> {
  if (emailVerified) return true;
  return (await limits.take([LIMITS.unprovenNoticesByUser, `${tenantId}:${id}`])).allowed;
}

/** By what device and where; of an administrator, who did it for somebody else, only that. */
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

/** An API key of the tenant acts as `system` under its own id. */
const isByAdministrator = (
  { actor }: Pick<EventMetadata, 'actor'>,
  log: RecordedEvent['log'],
): boolean => actor.type === 'admin' || (actor.type === 'system' && actor.id !== log);
