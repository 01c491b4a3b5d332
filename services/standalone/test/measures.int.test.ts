import { LOG_NUMBERS } from '@cardea/event-store';
import { services } from '@cardea/standalone';
import { type ServiceFixture, serviceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHEAP } from './cardea-fixture.ts';

const database = testDatabase();
let fixture: ServiceFixture;

beforeAll(async () => {
  const env = { ...CHEAP, ADMIN_EMAIL: 'root@example.com', ADMIN_PASSWORD: 'a long password' };
  fixture = await serviceFixture({ databaseUrl: database.url, definitions: services, env });
  // Events that a process is still applying would overwrite what the tests store.
  const lags = ['relay_lag_events', 'projection_lag_events', 'consumer_lag_events'];
  await untilTrue(async () => {
    const all = (await Promise.all(lags.map(seriesOf))).flat();
    return all.length > 0 && all.every(isZero);
  });
});
afterAll(() => fixture?.stop());

type Sample = { readonly labels: string; readonly value: number };
const isZero = ({ value }: Sample): boolean => value === 0;

async function seriesOf(name: string): Promise<readonly Sample[]> {
  const text = await (await fetch(`${fixture.managementUrl}/metrics`)).text();
  return [...text.matchAll(new RegExp(`^cardea_${name}\\{(.*)\\} (\\S+)$`, 'gm'))].map(
    ([, labels = '', value = '']) => ({ labels, value: Number(value) }),
  );
}
const valueAt = async (name: string, label: string): Promise<number | undefined> =>
  (await seriesOf(name)).find(({ labels }) => labels.includes(`"${label}"`))?.value;
const run = (sql: string) => fixture.shared.database.system.query(sql);

describe('O10 a scrape', () => {
  it('tells of what was not published', async () => {
    const topic = 'cardea.identity.events.v1';
    // Events that are still being published store their own positions.
    await untilTrue(async () => {
      await run(
        `UPDATE bus.relay_checkpoints SET position = -2 +
           (SELECT max(position) FROM eventstore.events WHERE log = ${LOG_NUMBERS['identity']})
         WHERE log = 'identity'`,
      );
      const lag = await valueAt('relay_lag_events', topic);
      return lag === 2 && Number(await valueAt('relay_oldest_seconds', topic)) > 0;
    });
    expect(await valueAt('relay_lag_events', 'cardea.vault.events.v1')).toBe(0);
  });

  it('tells of what was not projected', async () => {
    await run("UPDATE identity.projection_checkpoints SET position = 0 WHERE name = 'users'");
    const head = await valueAt('log_head', 'identity');
    expect(await valueAt('projection_lag_events', 'identity.users')).toBe(head);
    expect(await valueAt('projection_lag_seconds', 'identity.users')).toBeGreaterThan(0);
    expect(await valueAt('projection_lag_events', 'identity.sessions')).toBe(0);
  });

  it('tells of what a consumer has not applied', async () => {
    await untilTrue(async () => (await seriesOf('consumer_lag_events')).every(isZero));
    const { rows } = await run(
      `UPDATE audit.consumer_positions SET "offset" = "offset" - 1
       WHERE consumer = 'audit' AND topic = 'cardea.identity.events.v1' RETURNING partition`,
    );
    expect(rows.length).toBeGreaterThan(0);
    const lag = (await seriesOf('consumer_lag_events')).filter((one) => !isZero(one));
    expect(lag).toEqual([
      { labels: 'consumer="audit",topic="cardea.identity.events.v1"', value: rows.length },
    ]);
  });

  it('tells of streams that wait, until they go on', async () => {
    const owner = 'projection:authz.tuples';
    expect(await valueAt('parked_streams', owner)).toBe(0);
    await run(
      `INSERT INTO authz.parked_events (owner, stream_id, position, event_id, event_type)
       SELECT 'projection:tuples', 'tuple-' || each, 1, gen_random_uuid(), 'TupleWritten'
       FROM generate_series(1, 3) AS each`,
    );
    expect(await valueAt('parked_streams', owner)).toBe(3);
    await run('DELETE FROM authz.parked_events');
    expect(await valueAt('parked_streams', owner)).toBe(0);
  });
});
