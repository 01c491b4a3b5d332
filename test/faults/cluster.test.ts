import { join } from 'node:path';
import type { ServiceProcess } from '@cardea/cluster';
import { type IntegrationEvent, type ServiceName, topicOf } from '@cardea/contracts';
import { kafkaClient, readTopic } from '@cardea/event-bus';
import { type RestDriver, silentLogger, testForm } from '@cardea/testing';
import { expect, it } from 'vitest';
import { type Company, company, testCluster } from '../cluster-fixture.ts';
import { type Chance, chance } from './chance.ts';
import { openPolls } from './long-polls.ts';
import { steadyReads } from './steady-reads.ts';
import { steadyWrites } from './steady-writes.ts';
import { expectInOrder, tuplesMissing } from './topic.ts';
import { expectClean, mixedWrites } from './writes.ts';

const KILLS = testForm.long ? 300 : 3;
const LIFE_MS_MIN = 1000;
const LIFE_MS_SPREAD = 2500;
/** Time for one life and one start of a process, on a busy machine. */
const KILL_MS_MAX = 45_000;
/** Time until everything has arrived and was checked. */
const LOOK_MS_MAX = 300_000;
/** Rolling restarts of all services. */
const TURNS = testForm.long ? 10 : 1;
const TURN_MS_MAX = 300_000;
const POLLS = testForm.long ? 200 : 80;
const STOP_MS_MAX = 25_000;
/** The maximum share of reads that are told to repeat. There are none on a machine that is not busy. */
const REPEATED_MAX = 0.02;
/** The service with the polls comes first, because polls end by themselves after a while. */
const SERVICES: readonly ServiceName[] = [
  'approval',
  'identity',
  'authz',
  'vault',
  'webhooks',
  'audit',
];

/** Approval has no PUT or DELETE and a low rate limit; audit is only read. */
const WRITTEN = ['identity', 'authz', 'vault', 'webhooks'];

const processes = testCluster({ replicas: 2 });

it('R15 R25 O9 a process that is told to stop answers its long polls, loses no repeatable request, and ends in time', {
  timeout: TURNS * TURN_MS_MAX,
}, async () => {
  const admin = await company(processes.rest);
  const reads = steadyReads(processes.rest.as(admin));
  const writes = steadyWrites(processes.rest.as(admin));
  try {
    for (let turn = 0; turn < TURNS; turn += 1) await restartAll(admin, `poller-${turn}`);
  } finally {
    await Promise.all([reads.stop(), writes.stop()]);
  }
  expect(reads.failures).toEqual([]);
  expect(reads.count()).toBeGreaterThan(100);
  expect(reads.repeats()).toBeLessThan(reads.count() * REPEATED_MAX);
  expect(writes.failures).toEqual([]);
  for (const service of WRITTEN) expect(writes.count(service), service).toBeGreaterThan(10);
  await writes.expectMadeOnce();
});

async function restartAll(admin: Company, name: string): Promise<void> {
  const polls = await openPolls(processes, { admin, count: POLLS, name });
  for (const service of SERVICES) await restart(processes.replica(service, 1));
  const answered = await polls.answers();
  expect(answered.filter(({ status }) => status !== 200)).toEqual([]);
  expect(answered).toHaveLength(POLLS);
}

async function restart(leaving: ServiceProcess): Promise<void> {
  const startedMs = performance.now();
  const how = await leaving.end('SIGTERM', STOP_MS_MAX);
  expect(how, `${leaving.name}: ${leaving.output()}`).toBe(0);
  expect(performance.now() - startedMs).toBeLessThan(STOP_MS_MAX);
  await leaving.start();
}

it('R1 SIGKILL of a random process under mixed writes loses nothing that was acknowledged and doubles nothing', {
  timeout: KILLS * KILL_MS_MAX + LOOK_MS_MAX,
}, async () => {
  const admin = await company(processes.rest);
  const rest: RestDriver = processes.rest.as(admin);
  const random = chance();
  const load = mixedWrites(join(processes.folder, 'acked'), () => rest);
  try {
    for (let kill = 1; kill <= KILLS; kill += 1) await killOne(random);
  } finally {
    await load.stop();
  }
  await expectClean(rest, load);
  const events = await tupleEvents();
  expect(tuplesMissing(load, events)).toBe(0);
  expectInOrder(events);
});

async function killOne(random: Chance): Promise<void> {
  const lifeMs = random.ms(LIFE_MS_MIN, LIFE_MS_SPREAD);
  await new Promise((resolve) => setTimeout(resolve, lifeMs));
  const dying: ServiceProcess = random.oneOf(processes.cluster.processes);
  await dying.end('SIGKILL');
  await dying.start();
}

async function tupleEvents(): Promise<readonly IntegrationEvent[]> {
  const brokers = [processes.cluster.addresses().kafka ?? ''];
  const client = kafkaClient({ brokers, log: silentLogger });
  const lying = await readTopic(client, topicOf('authz'));
  return lying.map(({ event }) => event as IntegrationEvent);
}
