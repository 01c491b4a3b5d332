/** The schema of a live session for its user and for administrators. */
import { named, Time } from '@cardea/contracts';
import type { GeoIp, GeoLocation } from '@cardea/runtime';
import Type from 'typebox';
import { closed } from '../http/answers.ts';
import type { AliveSession } from './alive-sessions.ts';

export const SessionShape = named(
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
    /** The location of the IP address, according to the current database. */
    location: Type.Optional(
      closed({ city: Type.String(), region: Type.String(), country: Type.String() }),
    ),
    started_at: Time,
    last_active_at: Time,
    expires_at: Time,
    client_id: Type.Optional(Type.String()),
  }),
);

/** `current` is the caller's session. */
export const shownSession = (
  { geoIp }: { readonly geoIp: GeoIp },
  row: AliveSession,
  callersSession: string | null,
) => ({
  id: row.id,
  family_id: row.id,
  current: row.id === callersSession,
  ip_address: row.ip_address ?? '',
  user_agent: row.user_agent ?? '',
  browser: row.browser,
  browser_version: row.browser_version,
  os: row.os,
  os_version: row.os_version,
  device_type: row.device_type,
  ...located(geoIp.locationOf(row.ip_address)),
  started_at: row.started_at.toISOString(),
  last_active_at: row.last_active_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
  ...(row.client_id === null ? {} : { client_id: row.client_id }),
});

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
