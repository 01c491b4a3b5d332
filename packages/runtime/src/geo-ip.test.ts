import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger, untilTrue, writeGeoDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeClock } from './clock.ts';
import { GEOIP_CHECK_MS, geoIp } from './geo-ip.ts';

let folder: string;
let path: string;
const LONDON = { network: '81.2.69.0/24', city: 'London', region: 'England', country: 'GB' };
const logged: object[] = [];
const log = { ...silentLogger, warn: (what: object) => void logged.push(what) };
const clock = fakeClock(new Date('2026-01-01'));
const placesAt = (at: string | undefined) => geoIp({ path: at, clock, log });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardea-geo-'));
  path = join(folder, 'city.mmdb');
  const countryOnly = { network: '2a02:4780::/32', country: 'DE' };
  const inside = { network: '10.0.0.0/8', city: 'Nowhere', country: 'XX' };
  await writeGeoDatabase(path, [LONDON, countryOnly, inside]);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('the place of an address', () => {
  it('is as the database says, for both kinds of addresses', () => {
    const { locationOf } = placesAt(path);
    const london = { city: 'London', region: 'England', country: 'GB' };
    expect(locationOf('81.2.69.142')).toEqual(london);
    expect(locationOf('::ffff:81.2.69.142')).toEqual(london);
    expect(locationOf('2a02:4780::1')).toEqual({ city: null, region: null, country: 'DE' });
  });

  it.each(['10.0.0.1', '127.0.0.1', '::1', '8.8.8.8', '2a03::1', 'nobody', ''])(
    'is unknown for %s, which is not public or not listed',
    (address) => {
      expect(placesAt(path).locationOf(address)).toBeUndefined();
    },
  );

  it('audit 17 is unknown without a database, with a missing and with a broken one, which is logged', async () => {
    expect(placesAt(undefined).locationOf('81.2.69.142')).toBeUndefined();
    expect(logged).toEqual([]);
    expect(placesAt(join(folder, 'missing')).locationOf('81.2.69.142')).toBeUndefined();
    const broken = join(folder, 'broken.mmdb');
    await writeFile(broken, 'this is no database');
    expect(placesAt(broken).locationOf('81.2.69.142')).toBeUndefined();
    expect(logged).toEqual([{ code: 'ENOENT' }, { code: 'invalid' }]);
  });

  it('changes with the file, and stays while the file is broken', async () => {
    const changing = join(folder, 'changing.mmdb');
    await writeGeoDatabase(changing, [LONDON]);
    const { locationOf } = placesAt(changing);
    const city = () => locationOf('81.2.69.142')?.city;
    const look = (expected: string) =>
      untilTrue(async () => {
        await clock.advance(GEOIP_CHECK_MS);
        return city() === expected;
      });
    expect(city()).toBe('London');
    await writeGeoDatabase(changing, [{ ...LONDON, city: 'Leeds' }]);
    await utimes(changing, new Date(), new Date(Date.now() + 5_000));
    await look('Leeds');
    const before = logged.length;
    await writeFile(changing, 'torn');
    await untilTrue(async () => {
      await clock.advance(GEOIP_CHECK_MS);
      return city() === 'Leeds' && logged.length > before;
    });
    await writeGeoDatabase(changing, [LONDON]);
    await utimes(changing, new Date(), new Date(Date.now() + 10_000));
    await look('London');
  });
});
