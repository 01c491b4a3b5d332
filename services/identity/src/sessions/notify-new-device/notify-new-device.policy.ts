/**
 * Mails a user when their account was signed in to from a new device or location. It compares with the earlier sessions
 * that the table still has. After those are gone, a known device is reported again.
 */
import type { Sealer } from '@cardea/crypto';
import type { Command, Recorded } from '@cardea/event-store';
import { networkOf } from '@cardea/http';
import type { Database, RowOf } from '@cardea/read-models';
import type { Clock, GeoIp } from '@cardea/runtime';
import { policy, type RateLimits } from '@cardea/service';
import { exists, type UserDirectory } from '../../accounts/accounts.module.ts';
import { deviceOf } from '../../adapters/device.ts';
import { LIMITS } from '../../http/limits.ts';
import { type MailOutbox, whenceOf } from '../../mail/mail.module.ts';
import type { SessionEvent } from '../session.ts';
import { sessionRows } from '../sessions.projection.ts';
import { isNewDevice } from './new-device.ts';

/** How many of the earlier sessions are compared, newest first. */
const COMPARED_MAX = 200;
/** The maximum age of a sign-in to notify of. A policy that is new, or was stopped for long, skips older ones. */
const TOLD_WITHIN_MS = 60 * 60_000;

export type NoticeDependencies = {
  readonly clock: Pick<Clock, 'now'>;
  readonly database: Pick<Database, 'system'>;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly limits: RateLimits;
  readonly geoIp: GeoIp;
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf'>;
  readonly mailOutbox: Pick<MailOutbox, 'request'>;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
};

export const notifyNewDevice = (needs: NoticeDependencies) =>
  policy<SessionEvent>()({
    name: 'notify_new_device',
    on: {
      SessionStarted: (event) => notify(needs, event),
    },
  });

const EARLIER = sessionRows.select('browser', 'os', 'device_type', 'ip_address');
const EARLIER_SESSIONS = `SELECT ${EARLIER.columns} FROM identity.sessions
  WHERE tenant_id = $1 AND user_id = $2 AND id <> $3 AND started_at <= $4 AND client_id IS NULL
  ORDER BY started_at DESC LIMIT $5`;
const EARLIER_DEVICES = { name: 'identity_earlier_devices', text: EARLIER_SESSIONS };
/** Most sign-ins are from the same device as the last one, so this reads only one or two rows. */
const SAME_DEVICE = {
  name: 'identity_same_device',
  text: `SELECT FROM (${EARLIER_SESSIONS}) AS s
    WHERE browser = $6 AND os = $7 AND device_type IS NOT DISTINCT FROM $8
      AND ip_address IS NOT DISTINCT FROM $9 LIMIT 1`,
};

type Started = Recorded<SessionEvent, 'SessionStarted'>;

async function notify(needs: NoticeDependencies, event: Started): Promise<void> {
  const { data, metadata, streamId } = event;
  // A registration needs no notice. An application's session belongs to a sign-in that was checked itself.
  if (data.via !== 'login' || data.kind === 'oauth') return;
  const ageMs = needs.clock.now().getTime() - new Date(data.started_at).getTime();
  if (ageMs > TOLD_WITHIN_MS) return;
  const { tenantId } = metadata;
  const [ip, userAgent] = await Promise.all([
    needs.sealer.open(data.ip, { streamId, field: 'ip' }),
    needs.sealer.open(data.user_agent, { streamId, field: 'user_agent' }),
  ]);
  const device = deviceOf(userAgent);
  const { system } = needs.database;
  const of = [tenantId, data.user_id, data.id, data.started_at, COMPARED_MAX];
  const exactly = [device.browser, device.os, device.device_type, ip];
  if ((await system.query(SAME_DEVICE, [...of, ...exactly])).rowCount > 0) return;
  const { rows } = await system.query<RowOf<typeof EARLIER>>(EARLIER_DEVICES, of);
  const before = rows.map((row) => ({ ...row, place: placeOf(needs, row.ip_address) }));
  if (!isNewDevice({ ...device, place: placeOf(needs, ip) }, before)) return;
  const user = await needs.userDirectory.byId(tenantId, data.user_id);
  if (!exists(user) || user.status !== 'active') return;
  const email = await needs.userDirectory.emailOf(user);
  if (email === null) return;
  const limit = `${tenantId}:${user.id}`;
  if (!(await needs.limits.take([LIMITS.newDeviceMailByUser, limit])).allowed) return;
  const details = { at: data.started_at, ...whenceOf(needs.geoIp, ip, device) };
  const { id: userId, emailHash } = user;
  await needs.mailOutbox.request(
    { purpose: 'new_device', email, emailHash, userId, details },
    needs.systemCommand(tenantId, 'new device', data.id),
  );
}

/** The country, because it changes less often than the network and people recognise it. */
const placeOf = ({ geoIp }: Pick<NoticeDependencies, 'geoIp'>, ip: string | null): string =>
  ip === null ? '' : (geoIp.locationOf(ip)?.country ?? networkOf(ip));
