import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rebuildProjection, type Table } from '@cardea/read-models';
import { services } from '@cardea/standalone';
import { type ServiceRig, serviceRig, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { player } from '../../scripts/tour/player.ts';
import { playStory } from '../../scripts/tour/story.ts';

const database = testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'cardea-rebuild-'));
let rig: ServiceRig;
beforeAll(async () => {
  const env = { CARDEA_DATA: folder };
  rig = await serviceRig({ databaseUrl: database.url, definitions: services, env });
});
afterAll(async () => {
  await rig?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Who holds what at this moment: it does not follow from events. */
const WORKING_STATE = ['lease_owner', 'lease_until'];

/** All rows, by key. */
async function dump(schema: string, { name, key, columns }: Table): Promise<readonly unknown[]> {
  const kept = Object.keys(columns).filter((column) => !WORKING_STATE.includes(column));
  const { rows } = await rig.shared.database.system.query(
    `SELECT ${kept.join(', ')} FROM ${schema}.${name} ORDER BY ${key.join(', ')}`,
  );
  return rows;
}

it('R5 every table that is rebuilt from the first event equals the one that served', async () => {
  await playStory(
    player(rig.baseUrl, () => undefined),
    rig.baseUrl,
  );
  let rowsSeen = 0;
  for (const { service, projection } of rig.host.projections) {
    const { store, positions, sealer, log } = rig.host.needsOf(service);
    expect(await positions.reached([projection.name], await store.head(service), 10_000)).toBe(
      true,
    );
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
    expect(parkedStreams).toBe(0);
    expect(await dumpAll(), `${service}.${projection.name}`).toEqual(live);
    rowsSeen += live.flat().length;
  }
  expect(rowsSeen).toBeGreaterThan(20);
});
