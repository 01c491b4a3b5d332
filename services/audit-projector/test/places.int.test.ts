/** Rows show the location of an address according to the operator's database. Nothing else depends on it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auditService } from '@cardea/audit-projector';
import { serviceFixture, testDatabase, untilTrue, writeGeoDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardea-geo-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const database = testDatabase();

/** Rows of a new tenant, in which a person signed out from each address. */
async function rowsOf(tenantId: string, path: string, addresses: readonly (string | null)[]) {
  const fixture = await serviceFixture({
    databaseUrl: database.url,
    definitions: [auditService],
    env: { GEOIP_DB_PATH: path },
  });
  try {
    for (const [number, ip] of addresses.entries()) {
      const context = { ip, user_agent: null, app_id: null, agent_id: null, request_id: null };
      await fixture.publish({
        source: 'identity',
        type: 'session.revoked',
        tenantId,
        streamId: `session-${number}`,
        data: { id: `${number}`, user_id: 'u1', reason: 'user', context },
      });
    }
    const bearer = fixture.tokens.user({ tenantId, id: 'admin', roles: ['admin'] });
    const rest = fixture.rest.as({ bearer, tenant: tenantId });
    const events = await untilTrue(async () => {
      const { body } = await rest.get('/api/v1/audit/events');
      return body.count === addresses.length ? body.events : undefined;
    });
    return addresses.map((ip) => {
      const row = events.find((each: { source_ip: string | null }) => each.source_ip === ip);
      return [row.source_geo_city, row.source_geo_country];
    });
  } finally {
    await fixture.stop();
  }
}

describe('an audit row', () => {
  it('audit 17 shows city and country of a public address, as far as the database knows', async () => {
    const path = join(folder, 'city.mmdb');
    await writeGeoDatabase(path, [
      { network: '81.2.69.0/24', city: 'London', region: 'England', country: 'GB' },
      { network: '2a02:4780::/32', country: 'DE' },
      { network: '10.0.0.0/8', city: 'Nowhere', country: 'XX' },
    ]);
    const addresses = ['81.2.69.142', '2a02:4780::1', '10.0.0.1', '8.8.8.8', null];
    expect(await rowsOf('tenant-places', path, addresses)).toEqual([
      ['London', 'GB'],
      [null, 'DE'],
      [null, null],
      [null, null],
      [null, null],
    ]);
  });

  it('audit 17 is written without places where the database is broken or missing', async () => {
    const broken = join(folder, 'broken.mmdb');
    await writeFile(broken, 'no database');
    const nowhere = [[null, null]];
    expect(await rowsOf('tenant-broken', broken, ['81.2.69.142'])).toEqual(nowhere);
    const missing = join(folder, 'missing.mmdb');
    expect(await rowsOf('tenant-missing', missing, ['81.2.69.142'])).toEqual(nowhere);
  });
});
