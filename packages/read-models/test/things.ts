/** A test service with one kind of stream, one table, and a projection that can be made to fail. */
import { randomUUID } from 'node:crypto';
import type { Json, ServiceName } from '@cardea/contracts';
import type { Log, NewEvent, RecordedEvent } from '@cardea/event-store';
import { processSession } from '@cardea/postgres';
import {
  countTable,
  type MigrationSet,
  migrate,
  openDatabase,
  openPositions,
  orNull,
  type Projection,
  projection,
  protectTable,
  type RunnerOptions,
  runProjections,
  type TableChange,
  table,
} from '@cardea/read-models';
import { loops, systemClock } from '@cardea/runtime';
import { silentLogger } from '@cardea/testing';

export const LOG: Log = 'vault';
export const SCHEMA = 'things';

export const thingsSchema: MigrationSet = {
  schema: SCHEMA,
  serviceTables: true,
  migrations: [
    {
      name: '0001-things',
      up: async (knex) => {
        await knex.raw(`
          CREATE TABLE things.things (
            tenant_id uuid NOT NULL, id text, name text NOT NULL, tags text[], doc jsonb,
            changed_at timestamptz NOT NULL DEFAULT now(), renamed integer,
            CONSTRAINT things_key PRIMARY KEY (tenant_id, id),
            CONSTRAINT few_tags CHECK (cardinality(tags) < 10)
          );
          CREATE INDEX things_by_name ON things.things (tenant_id, lower(name));
          CREATE TABLE things.changes (id text PRIMARY KEY, thing text NOT NULL);
          CREATE TABLE things.counts (tenant_id text PRIMARY KEY, made bigint NOT NULL)`);
        await protectTable(knex, 'things.things');
      },
    },
  ],
};

export const migrateThings = (connectionString: string) =>
  migrate({ connectionString, sets: [thingsSchema], appVersion: '1.0.0', log: silentLogger });

type ThingData = { id: string; name?: string; tags?: string[]; doc?: Json; times?: number };
type ThingEvent =
  | {
      type: 'ThingMade';
      data: { id: string; name?: string; tags?: string[]; doc?: Json };
    }
  | { type: 'ThingRenamed'; data: { id: string; name: string; times: number } }
  | { type: 'ThingTagged'; data: { id: string; tags: string[] } }
  | { type: 'ThingRemoved' | 'Poison' | 'TooManyTags'; data: { id: string } };

const things = table('things', {
  key: ['tenant_id', 'id'],
  columns: {
    tenant_id: 'uuid',
    id: 'text',
    name: orNull('text'),
    tags: orNull('text[]'),
    doc: orNull('jsonb'),
    changed_at: 'timestamptz',
    renamed: orNull('integer'),
  },
});
const counts = countTable('counts', { key: ['tenant_id'], counts: ['made'] });
const changes = table('changes', { key: ['id'], columns: { id: 'text', thing: 'text' } });

/** A handler throws on `Poison` and PostgreSQL refuses `TooManyTags`, while `isPoisoned` returns true. */
export const thingsProjection = (isPoisoned: () => boolean = () => true): Projection => {
  const key = (event: { metadata: RecordedEvent['metadata']; data: ThingData }) => ({
    tenant_id: event.metadata.tenantId,
    id: event.data.id,
  });
  const changed = (event: { id: string; data: ThingData }): TableChange =>
    changes.put({ id: event.id, thing: event.data.id });
  return projection<ThingEvent>()({
    name: 'things',
    log: LOG,
    tables: [things, changes, counts],
    on: {
      ThingMade: (event) => [
        changed(event),
        counts.add({ tenant_id: event.metadata.tenantId }, { made: 1 }),
        things.put({
          ...key(event),
          name: event.data.name ?? null,
          tags: event.data.tags ?? null,
          doc: event.data.doc ?? null,
          changed_at: event.time,
          renamed: 0,
        }),
      ],
      ThingRenamed: async (event) => [
        changed(event),
        things.patch(key(event), {
          name: event.data.name,
          changed_at: event.time,
          renamed: event.data.times,
        }),
      ],
      ThingTagged: (event) => [things.patch(key(event), { tags: event.data.tags })],
      ThingRemoved: (event) => [
        things.remove(key(event)),
        counts.add({ tenant_id: event.metadata.tenantId }, { made: -1 }),
      ],
      Poison: (event) => {
        if (isPoisoned()) throw new TypeError('cannot be read');
        return [things.patch(key(event), { name: 'mended' })];
      },
      TooManyTags: (event) => {
        const tags = Array.from({ length: isPoisoned() ? 10 : 1 }, () => 'tag');
        return [things.patch(key(event), { tags })];
      },
    },
  });
};

export const TENANT = '0191d3a0-0000-7000-8000-00000000000a';
export const OTHER_TENANT = '0191d3a0-0000-7000-8000-00000000000b';

export const event = (type: string, data: ThingData, tenantId = TENANT): NewEvent => ({
  id: randomUUID(),
  type,
  schemaVersion: 1,
  time: new Date(),
  data: data as NewEvent['data'],
  metadata: { tenantId, actor: { type: 'system', id: 'test' } },
});

export type RunThings = Pick<RunnerOptions, 'projections' | 'store'> &
  Partial<RunnerOptions> & { readonly service?: ServiceName };

/** The parts of one process: pools, leader session, positions, and running projections. */
export async function runThings(connectionString: string, given: RunThings) {
  const log = silentLogger;
  const clock = systemClock;
  const database = openDatabase({ connectionString, log });
  const leader =
    given.leader ?? processSession({ connectionString, service: given.service, clock, log });
  const positions = openPositions({ schema: SCHEMA, database, leader, clock, log });
  const watched = loops(clock);
  const running = await runProjections({
    database,
    schema: SCHEMA,
    leader,
    positions,
    sealer: { open: async () => null },
    loops: watched,
    clock,
    log,
    ...given,
  });
  return {
    database,
    leader,
    positions,
    running,
    degraded: () => watched.state().find((loop) => loop.degraded !== undefined)?.degraded,
    stop: async () => {
      await running.stop();
      await positions.close();
      await leader.close();
      await database.close();
    },
  };
}
