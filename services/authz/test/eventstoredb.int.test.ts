import { authzService } from '@cardea/authz';
import {
  type FakeEventStore,
  type ServiceFixture,
  serviceFixture,
  startFakeEventStore,
  testDatabase,
  untilTrue,
} from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminOf } from './fga-client.ts';

const WELL_AGAIN_MS = 60_000;

const database = testDatabase();
let standIn: FakeEventStore;
let fixture: ServiceFixture;
beforeAll(async () => {
  standIn = await startFakeEventStore();
  const env = { EVENTSTORE_URL: standIn.url };
  fixture = await serviceFixture({ databaseUrl: database.url, definitions: [authzService], env });
});
afterAll(async () => {
  await fixture?.stop();
  await standIn?.stop();
});

describe('a service whose EventStoreDB goes down', () => {
  it('R7 answers 503 while it is away, is well soon after, and lost nothing that it had acknowledged', async () => {
    const fga = adminOf(fixture, 'outage');
    const acked: string[] = [];
    const write = async (name: string) => {
      const answer = await fga.write(name);
      if (answer.status === 201) acked.push(name);
      return answer;
    };
    const names = (part: string) =>
      Array.from({ length: 20 }, (_, n) => `user:ann viewer document:${part}-${n}`);

    for (const name of names('before')) expect((await write(name)).status).toBe(201);
    const running = names('during').map(write);
    await standIn.faults.goDown();
    const answers = [...(await Promise.all(running)), await write('user:ann viewer document:down')];
    for (const { status, headers } of answers) {
      expect([201, 503]).toContain(status);
      if (status === 503) expect(headers.get('retry-after')).not.toBeNull();
    }
    expect(answers.at(-1)?.status).toBe(503);

    await standIn.faults.comeBack();
    await untilTrue(async () => (await write('user:ann viewer document:back')).status === 201, {
      deadlineMs: WELL_AGAIN_MS,
    });
    for (const name of acked) expect(await fga.allows(name)).toBe(true);
    await untilTrue(async () => (await fga.list({ limit: 1000 })).body.total >= acked.length);
  });
});
