import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rebuildProjection, type Table } from '@cardea/read-models';
import { services } from '@cardea/standalone';
import { type ServiceFixture, serviceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { player } from '../../scripts/tour/player.ts';
import { playStory } from '../../scripts/tour/story.ts';
import { CHEAP_HASHES } from './instance.ts';

const database = testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'cardea-rebuild-'));
let fixture: ServiceFixture;
beforeAll(async () => {
  const env = { CARDEA_DATA: folder, ...CHEAP_HASHES };
  fixture = await serviceFixture({ databaseUrl: database.url, definitions: services, env });
});
afterAll(async () => {
  await fixture?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const REACHED_MS_MAX = 60_000;
/** Streams that a rebuild had to park, one number for each. */
const parked: number[] = [];
/** Leases are working state, which does not follow from events. */
const WORKING_STATE = ['lease_owner', 'lease_until'];

/** All rows, by key. */
async function dump(schema: string, { name, key, columns }: Table): Promise<readonly unknown[]> {
  const kept = Object.keys(columns).filter((column) => !WORKING_STATE.includes(column));
  const { rows } = await fixture.shared.database.system.query(
    `SELECT ${kept.join(', ')} FROM ${schema}.${name} ORDER BY ${key.join(', ')}`,
  );
  return rows;
}

it('R5 every table that is rebuilt from the first event equals the one that served', async () => {
  await playStory(
    player(fixture.baseUrl, () => undefined),
    fixture.baseUrl,
  );
  let rowsSeen = 0;
  parked.length = 0;
  for (const of of fixture.host.projections) {
    const { live, rebuilt } = await untilTrue(() => bothWays(of), {
      what: `a log that stood still while ${of.service}.${of.projection.name} was rebuilt`,
    });
    expect(rebuilt, `${of.service}.${of.projection.name}`).toEqual(live);
    rowsSeen += live.flat().length;
  }
  expect(parked.filter((streams) => streams > 0)).toEqual([]);
  expect(rowsSeen).toBeGreaterThan(20);
});

type Served = ServiceFixture['host']['projections'][number];

/** The tables as served and as rebuilt; undefined if an event came in between. */
async function bothWays({ service, projection }: Served) {
  const { store, positions, sealer, log } = fixture.host.needsOf(service);
  const head = await store.head(service);
  if (!(await positions.reached([projection.name], head, REACHED_MS_MAX))) return undefined;
  const dumpAll = () => Promise.all(projection.tables.map((table) => dump(service, table)));
  const live = await dumpAll();
  const { parkedStreams } = await rebuildProjection({
    connectionString: database.url,
    projection,
    schema: service,
    store,
    open: sealer.open,
    log,
  });
  parked.push(parkedStreams);
  const rebuilt = await dumpAll();
  return (await store.head(service)) === head ? { live, rebuilt } : undefined;
}
