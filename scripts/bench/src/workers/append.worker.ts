/** One side of B1 and B2 as a process: appends through the store, or plain INSERTs of one row each. */
import { randomUUID } from 'node:crypto';
import { type NewEvent, postgresEventStore } from '@cardea/event-store';
import { Client } from 'pg';
import { measureCalls, serveMeasurements } from '../harness.ts';

const [kind = '', connectionString = '', callersText = '1'] = process.argv.slice(2);
const callers = Number(callersText);

/** About 576 bytes, most of it data. */
const newEvent = (): NewEvent => ({
  id: randomUUID(),
  type: 'SessionStarted',
  schemaVersion: 1,
  time: new Date(),
  data: { user_id: randomUUID(), text: 'x'.repeat(280) },
  metadata: {
    tenantId: '0198c9a2-7d3b-7c55-9d4e-2f6a8b1c0d3e',
    actor: { type: 'user', id: '0198c9a2-7d3b-7c55-9d4e-2f6a8b1c0d3f' },
    requestId: '0198c9a2-7d3b-7c55-9d4e-2f6a8b1c0d40',
  },
});

async function throughTheStore(): Promise<() => Promise<void>> {
  const store = postgresEventStore({ connectionString, role: 'cardea_app', log: 'identity' });
  return async () => {
    const event = newEvent();
    const [outcome] = await store.append([
      { streamId: `session-${event.id}`, expected: 0, events: [event] },
    ]);
    if (!outcome?.appended || outcome.revision !== 1) throw new Error('refused');
  };
}

async function byInserts(): Promise<(caller: number) => Promise<void>> {
  const clients = await Promise.all(
    Array.from({ length: callers }, async () => {
      const client = new Client({ connectionString });
      await client.connect();
      return client;
    }),
  );
  const text = `INSERT INTO bench.events VALUES (1, nextval('bench.positions'), $1, 1, $2, $3, 1, $4, $5, $6)`;
  return async (caller) => {
    const { id, type, time, data, metadata } = newEvent();
    const values = [`session-${id}`, id, type, time, data, metadata];
    const { rowCount } = (await clients[caller]?.query({ name: 'insert', text, values })) ?? {};
    if (rowCount !== 1) throw new Error('not inserted');
  };
}

const operation = kind === 'store' ? await throughTheStore() : await byInserts();
serveMeasurements((seconds) => measureCalls(callers, seconds, operation));
