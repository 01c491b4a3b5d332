/** A log for the relay: tuples that a user wrote, with address and user agent encrypted. */
import { createHash, randomUUID } from 'node:crypto';
import { contextLocation, neverErased, type Sealer, sealer, wrapKeys } from '@cardea/crypto';
import { type NewEvent, postgresEventStore } from '@cardea/event-store';
import { openDatabase, postgresSubjectKeys } from '@cardea/read-models';
import { logger, secret, systemClock } from '@cardea/runtime';

export const LOG = 'authz';
const TENANT = '0198c9a2-7d3b-7c55-9d4e-2f6a8b1c0d3e';
const USER = '0198c9a2-7d3b-7c55-9d4e-2f6a8b1c0d3f';
const APPENDS_AT_ONCE = 500;
const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

/** The sealer of authz, as in a process of the service. */
export function benchSealer(connectionString: string): Sealer & { close(): Promise<void> } {
  const log = logger({ service: 'bench', version: '0.1.0', level: 'error' });
  const database = openDatabase({ connectionString, log });
  const settings = {
    ENCRYPTION_KEY: secret('0123456789abcdef'.repeat(4)),
    ENCRYPTION_KEY_PREVIOUS: undefined,
  };
  const seals = sealer({
    table: postgresSubjectKeys(database, LOG),
    keys: wrapKeys(settings, 'subject-wrap/v1'),
    clock: systemClock,
  });
  return { ...seals, close: () => database.close() };
}

export async function fillLog(connectionString: string, events: number): Promise<void> {
  const store = postgresEventStore({ connectionString, log: LOG });
  const seals = benchSealer(connectionString);
  for (let done = 0; done < events; done += APPENDS_AT_ONCE) {
    const written = await Promise.all(
      Array.from({ length: Math.min(APPENDS_AT_ONCE, events - done) }, () => tupleWritten(seals)),
    );
    await store.append(
      written.map((event) => ({ streamId: streamOf(event.id), expected: 0, events: [event] })),
    );
  }
  await seals.close();
  await store.close();
}

/** The stream is named by a hash, as authz names the stream of a tuple. */
const streamOf = (id: string): string => `tuple-${createHash('sha256').update(id).digest('hex')}`;

async function tupleWritten(seals: Sealer): Promise<NewEvent> {
  const time = new Date();
  const seal = async (field: 'ip' | 'user_agent', value: string) =>
    neverErased(await seals.seal(TENANT, contextLocation(TENANT, time, field), value));
  const id = randomUUID();
  return {
    id,
    type: 'TupleWritten',
    schemaVersion: 1,
    time,
    data: {
      tuple_id: id,
      user_type: 'user',
      user_id: USER,
      relation: 'viewer',
      object_type: 'document',
      object_id: id,
      created_at: time.toISOString(),
    },
    metadata: {
      tenantId: TENANT,
      actor: { type: 'user', id: USER },
      appId: 'console',
      requestId: randomUUID(),
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      ip: await seal('ip', '203.0.113.7'),
      userAgent: await seal('user_agent', USER_AGENT),
    },
  };
}
