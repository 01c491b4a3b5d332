import { type Database, DatabaseUnavailable } from '@cardea/read-models';
import type { Settings } from '@cardea/runtime';
import type { Host } from '@cardea/service';
import { describe, expect, it } from 'vitest';
import { welcome } from './welcome.ts';

const shown = {
  settings: { HOST: '127.0.0.1', PUBLIC_URL: 'http://localhost:1' } as Settings,
  adminPassword: undefined,
  ownPassword: false,
  showsMailbox: false,
  temporary: false,
  databaseFolder: undefined,
};

/** The host's database fails this many times before it answers. */
function hostWith(failures: number): Host {
  let left = failures;
  const database = {
    asSystem: async () => {
      if (left === 0) return [{ tenant_id: 'tenant-1', publishable_key: 'pk_1' }];
      left -= 1;
      throw new DatabaseUnavailable('No database connection within 2 s.');
    },
  };
  const needs = { database: database as unknown as Database };
  return { needsOf: () => needs, port: 1, managementPort: 2 } as unknown as Host;
}

const noPause = async (): Promise<void> => undefined;

describe('the banner of an instance that serves', () => {
  it('waits for a database that is busy', async () => {
    expect(await welcome(hostWith(3), shown, noPause)).toMatch(/Tenant +tenant-1/);
  });

  it('fails with a database that stays away', async () => {
    const never = welcome(hostWith(Number.POSITIVE_INFINITY), shown, noPause);
    await expect(never).rejects.toThrow(DatabaseUnavailable);
  });

  it('names the issuer’s address, and where the server listens if that is another', async () => {
    const own = await welcome(hostWith(0), shown, noPause);
    expect(own).toContain('http://localhost:1/docs');
    expect(own).not.toContain('Listens on');
    const settings = { PUBLIC_URL: 'https://id.example.com' } as Settings;
    const proxied = await welcome(hostWith(0), { ...shown, settings }, noPause);
    expect(proxied).toMatch(/API +https:\/\/id\.example\.com /);
    expect(proxied).toMatch(/Listens on +http:\/\/127\.0\.0\.1:1\n/);
    expect(proxied).toContain('curl -s http://127.0.0.1:1/');
  });

  it('says where the database lies that is not in the data folder', async () => {
    const settings = { ...shown.settings, CARDEA_DATA: '/data' } as Settings;
    const rows = async (databaseFolder: string): Promise<string> =>
      welcome(hostWith(0), { ...shown, settings, databaseFolder }, noPause);
    expect(await rows('/data/postgres')).not.toContain('Database');
    expect(await rows('/var/lib/cardea/1')).toMatch(/Database +\/var\/lib\/cardea\/1/);
  });
});
