import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readAddresses, writeAddresses } from './addresses.ts';

const folder = mkdtempSync(join(tmpdir(), 'cardea-addresses-'));
beforeEach(() => rmSync(join(folder, 'cluster.json'), { force: true }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const cluster = {
  gateway: 'http://127.0.0.1:1',
  mailbox: 'http://127.0.0.1:2/dev/mailbox',
  kafka: '127.0.0.1:3',
  redis: 'redis://127.0.0.1:4',
  postgres: 'postgres://127.0.0.1:5/cardea',
  eventstore: null,
  services: {
    identity: [{ management: 'http://127.0.0.1:6' }, { management: 'http://127.0.0.1:7' }],
    authz: [{ management: 'http://127.0.0.1:8' }],
  },
};

describe('the addresses in a data folder', () => {
  it('are none where nothing has run', () => {
    expect(readAddresses(folder)).toBeUndefined();
  });

  it('of a cluster name every process, and the servers that its settings do not', () => {
    writeFileSync(join(folder, 'cluster.json'), JSON.stringify(cluster));
    expect(readAddresses(folder)).toEqual({
      api: 'http://127.0.0.1:1',
      management: ['http://127.0.0.1:6', 'http://127.0.0.1:7', 'http://127.0.0.1:8'],
      servers: {
        DATABASE_URL: 'postgres://127.0.0.1:5/cardea',
        REDIS_URL: 'redis://127.0.0.1:4',
        KAFKA_BROKERS: '127.0.0.1:3',
      },
    });
  });

  it('of one process take the place of a cluster that ran there before', () => {
    writeFileSync(join(folder, 'cluster.json'), JSON.stringify(cluster));
    const api = 'http://127.0.0.1:8080';
    writeAddresses(folder, { pid: 1, api, management: 'http://127.0.0.1:8081' });
    expect(readAddresses(folder)).toEqual({
      api,
      management: ['http://127.0.0.1:8081'],
      servers: {},
    });
  });
});
