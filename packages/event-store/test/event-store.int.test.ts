import { postgresEventStore } from '@cardea/event-store';
import { inMemoryEventStore, inMemoryLogs, testDatabase, untilTrue } from '@cardea/testing';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { appendOn } from './appending.ts';
import { describeEventStore } from './conformance.ts';
import { newAppend } from './store-fixture.ts';
import { writerProcesses } from './writer-processes.ts';

const logs = inMemoryLogs();
describeEventStore('in memory', () => ({
  open: (log) => inMemoryEventStore(log, logs),
  startWriter: async (log, name) => {
    const acked = new Set<string>();
    const { stop } = appendOn(inMemoryEventStore(log, logs), name, (id) => acked.add(id));
    return { acked: () => acked, stop, kill: stop };
  },
  holdSnapshot: async () => async () => {},
  dense: true,
  holdsBasis: true,
}));

describe('with a database', () => {
  const database = testDatabase();
  const { startWriter } = writerProcesses(() => database.url);

  describeEventStore('Postgres', () => ({
    open: (log) => postgresEventStore({ connectionString: database.url, role: 'cardea_app', log }),
    startWriter,
    holdSnapshot: async () => {
      const client = new Client({ connectionString: database.url });
      await client.connect();
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await client.query('SELECT pg_current_xact_id(), count(*) FROM eventstore.events');
      return () => client.end();
    },
    dense: true,
    holdsBasis: true,
  }));

  describe('the Postgres event store', () => {
    it('R7 goes on when the server cut its connections, and crashes nothing', async () => {
      const store = postgresEventStore({ connectionString: database.url, log: 'identity' });
      const unsubscribe = await store.subscribe('identity', () => {});
      await store.append([newAppend()]);
      const admin = new Client({ connectionString: database.url });
      await admin.connect();
      const others = `FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'cardea%'`;
      const before = await admin.query<{ pid: number }>(
        `SELECT pid, pg_terminate_backend(pid) ${others}`,
      );
      const cut = before.rows.map(({ pid }) => pid);
      expect(cut.length).toBeGreaterThan(0);
      await untilTrue(async () => {
        const left = await admin.query(`SELECT ${others} AND pid = ANY($1)`, [cut]);
        return left.rowCount === 0;
      });
      const outcomes = await Promise.allSettled([store.append([newAppend()]), store.head('vault')]);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') {
          expect(outcome.reason).toMatchObject({ name: 'EventStoreUnavailable' });
        }
      }
      expect(await store.append([newAppend()])).toMatchObject([{ appended: true }]);
      await admin.end();
      await unsubscribe();
      await store.close();
    });

    it('lets nobody change or remove an event', async () => {
      const store = postgresEventStore({ connectionString: database.url, log: 'identity' });
      await store.append([newAppend()]);
      await store.close();
      for (const role of ['owner', 'cardea_app', 'cardea_system']) {
        const client = new Client({
          connectionString: database.url,
          ...(role === 'owner' ? {} : { options: `-c role=${role}` }),
        });
        await client.connect();
        for (const change of [
          'UPDATE eventstore.events SET position = 0',
          'DELETE FROM eventstore.events',
          'TRUNCATE eventstore.events',
        ]) {
          await expect(client.query(change)).rejects.toMatchObject({ code: '42501' });
        }
        await client.end();
      }
    });

    it('fails an event that the database cannot hold, and no other of its batch', async () => {
      const store = postgresEventStore({ connectionString: database.url, log: 'identity' });
      const bad = newAppend();
      const [guilty, ...others] = await Promise.allSettled([
        store.append([{ ...bad, events: bad.events.map((e) => ({ ...e, data: { nul: '\0' } })) }]),
        store.append([newAppend()]),
        store.append([newAppend()]),
      ]);
      expect(guilty.status).toBe('rejected');
      expect(others.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
      await store.close();
    });
  });
});
