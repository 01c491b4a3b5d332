import { setTimeout as pause } from 'node:timers/promises';
import { needRedis, testDatabase, testForm, untilTrue } from '@cardea/testing';
import { expect, it } from 'vitest';
import { inLanes } from '../../services/authz/test/fga-client.ts';
import { type Chance, chance } from './chance.ts';
import { type FgaReplica, type ReplicaSetting, startFgaReplica } from './fga-replica.ts';

const TENANT = 'barrier';
const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const FAULTS_MS = testForm.long ? 60 * SECOND_MS : 10 * SECOND_MS;
const FAULT_MS = testForm.long
  ? { min: 1 * SECOND_MS, spread: 9 * SECOND_MS }
  : { min: 1 * SECOND_MS, spread: 2 * SECOND_MS };
const CHECKS_A_ROUND = testForm.long ? 100 : 10;
/** Documents that replicas know as granted when a fault begins. */
const AHEAD = 20;
const PAIRS = testForm.long ? 10_000 : 120;
const TEST_MS_MAX = 600_000;

const database = testDatabase();
const redis = needRedis();

const setting = (): ReplicaSetting => ({
  databaseUrl: database.url,
  redisUrl: 'url' in redis ? redis.url : '',
  tenantId: TENANT,
});
const replicas = (count: number): Promise<FgaReplica[]> =>
  Promise.all(Array.from({ length: count }, () => startFgaReplica(setting())));

it('authz 22 a write that removes access is denied on every replica from its answer on', {
  timeout: TEST_MS_MAX,
}, async () => {
  const [here, there] = (await replicas(2)) as [FgaReplica, FgaReplica];
  let stale = 0;
  const pairs = Array.from({ length: PAIRS }, (_, at) => at);
  await inLanes(8, pairs, async (at) => {
    const name = `user:ann viewer document:${at % 2 === 0 ? 'one' : 'batch'}-${at}`;
    const [writer, reader] = at % 4 < 2 ? [here, there] : [there, here];
    if (at % 2 === 0) {
      expect((await writer.fga.write(name)).status).toBe(201);
      if (!(await reader.fga.allows(name))) stale++;
      expect((await writer.fga.delete(name)).status).toBe(200);
    } else {
      expect((await batch(writer, 'writes', name)).status).toBe(200);
      if (!(await reader.fga.allows(name))) stale++;
      expect((await batch(writer, 'deletes', name)).status).toBe(200);
    }
    const answers = await Promise.all([here, there].map(({ fga }) => fga.allows(name)));
    stale += answers.filter(Boolean).length;
  });
  expect(stale).toBe(0);
  // The answers came from memory, under leases, and not from the table.
  for (const { managementUrl } of [here, there]) {
    const text = await (await fetch(`${managementUrl}/metrics`)).text();
    expect(Number(/^cardea_authz_table_answers_total (\d+)/m.exec(text)?.[1])).toBeLessThan(PAIRS);
  }
});

const batch = ({ fga }: FgaReplica, list: 'writes' | 'deletes', name: string) => {
  const [, user_id = '', object_id = ''] = /^user:(\S+) viewer document:(\S+)$/.exec(name) ?? [];
  const tuple = {
    user_type: 'user',
    user_id,
    relation: 'viewer',
    object_type: 'document',
    object_id,
  };
  return fga.rest.post('/api/v1/fga/tuples/batch', { [list]: [tuple] });
};

it('authz 22 nor does a replica answer older that was stopped, killed, cut off, or has another time', {
  timeout: TEST_MS_MAX,
}, async () => {
  const all = await replicas(3);
  const draw = chance();
  const checks: Promise<void>[] = [];
  const stale: string[] = [];
  let answered = 0;
  let longestMs = 0;

  /** Documents whose deletion was sent. */
  const revoked = new Set<string>();
  /**
   * Sends a check now. Without `isGranted` it must be denied. With `isGranted` it must be allowed, if that still
   * returns true when the answer arrives. Other statuses than 200 prove nothing.
   */
  const expectOn = (replica: FgaReplica, name: string, isGranted?: () => boolean): Promise<void> =>
    replica.fga.check(name).then(
      ({ status, body }) => {
        if (status !== 200 || isGranted?.() === false) return;
        answered += 1;
        if (body.allowed !== (isGranted !== undefined)) stale.push(`${name}: ${body.allowed}`);
      },
      () => undefined,
    );
  const changed = async (change: 'write' | 'delete', name: string): Promise<void> => {
    const startMs = performance.now();
    // The first replica has no faults, so its answers show what was acknowledged.
    const { status } = await (all[0] as FgaReplica).fga[change](name);
    longestMs = Math.max(longestMs, performance.now() - startMs);
    expect([change, status]).toEqual([change, change === 'write' ? 201 : 200]);
  };

  const nameOf = (round: number): string => `user:ann viewer document:${round}`;
  for (let round = 0; round < AHEAD; round++) await changed('write', nameOf(round));
  // Loads the tenant everywhere, so that a stopped replica has an index that the others outrun.
  for (const { fga } of all) {
    await untilTrue(() => fga.allows(nameOf(0)), { what: 'a replica answers' });
  }
  const end = performance.now() + FAULTS_MS;
  const faults = playFaults(all, draw, end);
  for (let round = 0; performance.now() < end; round++) {
    const fresh = nameOf(round + AHEAD);
    await changed('write', fresh);
    checks.push(...all.map((replica) => expectOn(replica, fresh, () => !revoked.has(fresh))));
    const name = nameOf(round);
    revoked.add(name);
    await changed('delete', name);
    for (let check = 0; check < CHECKS_A_ROUND; check++) {
      checks.push(...all.map((replica) => expectOn(replica, name)));
      if (check % 10 === 9) await pause(1);
    }
  }
  await faults;
  await Promise.all(checks);
  console.log(`${answered} checks answered, longest change ${Math.round(longestMs)} ms`);
  expect(answered).toBeGreaterThan(CHECKS_A_ROUND);
  expect(stale).toEqual([]);
});

/** Plays one fault after another, each at the second or third replica. */
async function playFaults(all: FgaReplica[], draw: Chance, end: number): Promise<void> {
  const kinds = ['stop', 'kill', 'cut', 'freeze', 'step back', 'step on'] as const;
  for (let at = 0; performance.now() < end; at++) {
    const index = 1 + (at % 2);
    const victim = all[index] as FgaReplica;
    const faultMs = draw.ms(FAULT_MS.min, FAULT_MS.spread);
    const kind = kinds[at % kinds.length] as (typeof kinds)[number];
    switch (kind) {
      case 'stop':
        victim.signal('SIGSTOP');
        await pause(faultMs);
        victim.signal('SIGCONT');
        break;
      case 'kill':
        await victim.kill();
        await pause(faultMs);
        all[index] = await startFgaReplica(setting());
        break;
      case 'cut':
        await victim.proxy.shut();
        await pause(faultMs);
        await victim.proxy.open();
        break;
      case 'freeze':
        victim.proxy.freeze();
        await pause(faultMs);
        victim.proxy.thaw();
        break;
      case 'step back':
        victim.stepWallClock(-HOUR_MS);
        break;
      case 'step on':
        victim.stepWallClock(HOUR_MS);
        break;
    }
    await pause(draw.ms(200, 800));
  }
}
