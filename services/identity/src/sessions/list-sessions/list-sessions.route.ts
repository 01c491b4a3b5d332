/** A user's own sessions, one per signed-in device. */
import { named, Time } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import type { GeoIp, GeoLocation } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed, USERS_ONLY } from '../../http/answers.ts';
import { aliveSessions } from '../alive-sessions.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database'> & { readonly geoIp: GeoIp };

const Session = named(
  'LoginSession',
  closed({
    id: Type.String(),
    family_id: Type.String(),
    current: Type.Boolean(),
    ip_address: Type.String(),
    user_agent: Type.String(),
    browser: Type.String(),
    browser_version: Type.String(),
    os: Type.String(),
    os_version: Type.String(),
    device_type: Type.Union([Type.String(), Type.Null()]),
    /** Where the address was, by the database of today. */
    location: Type.Optional(
      closed({ city: Type.String(), region: Type.String(), country: Type.String() }),
    ),
    started_at: Time,
    last_active_at: Time,
    expires_at: Time,
    client_id: Type.Optional(Type.String()),
  }),
);

export const listSessionsRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'list_my_sessions',
      summary: 'List my sessions',
      tag: 'Self-service',
      method: 'get',
      path: '/api/v1/me/sessions',
      who: ['user'],
      applicationScope: 'account',
      tenant: 'optional',
      area: 'user',
      ok: closed({ sessions: Type.Array(Session), count: Type.Integer() }),
      refusals: {},
      notTaken: USERS_ONLY,
      reads: ['sessions', 'users', 'consents'],
    },
    async ({ principal: user }) => {
      const rows = await aliveSessions(needs.database, {
        tenantId: user.tenantId,
        userId: user.id,
        now: needs.clock.now(),
      });
      const sessions = rows.map((row) => ({
        id: row.id,
        family_id: row.id,
        current: row.id === user.sessionId,
        ip_address: row.ip_address ?? '',
        user_agent: row.user_agent ?? '',
        browser: row.browser,
        browser_version: row.browser_version,
        os: row.os,
        os_version: row.os_version,
        device_type: row.device_type,
        ...located(needs.geoIp.locationOf(row.ip_address)),
        started_at: row.started_at.toISOString(),
        last_active_at: row.last_active_at.toISOString(),
        expires_at: row.expires_at.toISOString(),
        ...(row.client_id === null ? {} : { client_id: row.client_id }),
      }));
      return { ok: { sessions, count: sessions.length } };
    },
  );

const located = (place: GeoLocation | undefined) =>
  place === undefined
    ? {}
    : {
        location: {
          city: place.city ?? '',
          region: place.region ?? '',
          country: place.country ?? '',
        },
      };
