/**
 * Locations of network addresses from a MaxMind database that the operator provides. Without one, or with a broken one,
 * no address has a location and nothing else changes. The file is read again when it changes.
 */
import { readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import ipaddr from 'ipaddr.js';
import { type CityResponse, Reader } from 'maxmind';
import type { Clock, Logger } from './ports.ts';

/** How often a change of the file is checked when an address is looked up. */
export const GEOIP_CHECK_MS = 60_000;

/** Names in English, and the country as ISO 3166-1 alpha-2. Null if the database does not know. */
export type GeoLocation = {
  readonly city: string | null;
  readonly region: string | null;
  readonly country: string | null;
};

export type GeoIp = {
  /** Undefined if nothing is known, or if it is no public address. */
  readonly locationOf: (address: string | null) => GeoLocation | undefined;
};

const NOWHERE: GeoIp = { locationOf: () => undefined };

export function geoIp({
  path,
  clock,
  log,
}: {
  readonly path: string | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Logger, 'warn'>;
}): GeoIp {
  if (path === undefined) return NOWHERE;
  let reader: Reader<CityResponse> | undefined;
  let checkedAt = clock.now().getTime();
  let seen = '';
  const use = (bytes: Buffer) => {
    reader = new Reader<CityResponse>(bytes);
  };
  const broken = (error: unknown) => {
    const { code } = error as { code?: string };
    log.warn({ code: code ?? 'invalid' }, 'the database at GEOIP_DB_PATH cannot be read');
  };
  try {
    use(readFileSync(path));
  } catch (error) {
    broken(error);
  }
  // If the file cannot be read, the last database stays in use.
  const check = async (): Promise<void> => {
    try {
      const { mtimeMs, size } = await stat(path);
      const now = `${mtimeMs} ${size}`;
      if (now === seen) return;
      seen = now;
      use(await readFile(path));
    } catch (error) {
      broken(error);
    }
  };
  return {
    locationOf: (address) => {
      const now = clock.now().getTime();
      if (now - checkedAt >= GEOIP_CHECK_MS) {
        checkedAt = now;
        void check();
      }
      return reader === undefined || address === null ? undefined : found(reader, address);
    },
  };
}

function found(reader: Reader<CityResponse>, address: string): GeoLocation | undefined {
  if (!ipaddr.isValid(address)) return undefined;
  const ip = ipaddr.process(address);
  if (ip.range() !== 'unicast') return undefined;
  try {
    const response = reader.get(ip.toString());
    if (response === null) return undefined;
    const { city, subdivisions, country } = response;
    const place = {
      city: city?.names?.en ?? null,
      region: subdivisions?.[0]?.names?.en ?? null,
      country: country?.iso_code ?? null,
    };
    return place.city === null && place.region === null && place.country === null
      ? undefined
      : place;
  } catch {
    return undefined; // The database is damaged inside.
  }
}
