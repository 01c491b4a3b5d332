/** A machine loses rights while it writes and the shared cache is stopped, at two replicas. */
import { setTimeout as pause } from 'node:timers/promises';
import { startRedis, untilTrue } from '@cardea/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { application, type OAuthFixture, type TestClient, token } from './oauth-fixture.ts';
import { oauthReplicasOfFile } from './oauth-replicas-fixture.ts';

const replicas = oauthReplicasOfFile({ RATE_LIMIT_FACTOR: '100000' });
const APPLICATIONS = '/api/v1/admin/applications';
const WRITER = { roles: ['admin'], machine_scopes: ['applications:read', 'applications:write'] };
/** An idle machine takes a second or two. */
const WELL_MS_MAX = 60_000;
const TEST_MS_MAX = 240_000;
/**
 * The number of writes that each replica performs before, during and after the outage. More writes would show nothing
 * new.
 */
const WRITES_MIN = 5;
const BETWEEN_WRITES_MS = 20;

const both = () => [replicas.one, replicas.other];
const tokenOf = async ({ client_id, client_secret }: TestClient): Promise<string> => {
  const form = { grant_type: 'client_credentials', client_id, client_secret };
  return (await token(replicas.one, form)).body.access_token;
};
const asMachine = ({ rest }: OAuthFixture, bearer: string) =>
  rest.as({ bearer, tenant: replicas.admin.tenantId });
const list = async (fixture: OAuthFixture, bearer: string) =>
  (await asMachine(fixture, bearer).get(APPLICATIONS)).status;

type Write = { readonly begunMs: number; readonly status: number };

/** Writes at both replicas one after the other until it is stopped. */
function writer(bearer: string) {
  const writes: Write[] = [];
  let isOver = false;
  const write = async (fixture: OAuthFixture): Promise<void> => {
    while (!isOver) {
      const begunMs = performance.now();
      const fields = { name: 'Shop', type: 'spa' };
      const { status } = await asMachine(fixture, bearer).post(APPLICATIONS, fields);
      writes.push({ begunMs, status });
      await pause(BETWEEN_WRITES_MS);
    }
  };
  const writing = Promise.all(both().map(write));
  return {
    writes,
    until: (isEnough: () => boolean) => untilTrue(async () => isEnough(), { what: 'it wrote' }),
    stop: async () => {
      isOver = true;
      await writing;
    },
  };
}

/** The ways in which the cache fails and returns. */
const OUTAGES = {
  'killed, back and empty': {
    stop: () => replicas.redis.kill(),
    start: async () => {
      const { port } = replicas.redis;
      Object.assign(replicas, { redis: await startRedis({ port }) });
    },
  },
  // The cache accepts connections without responding. Afterwards its content is available again.
  'frozen and thawed': {
    stop: async () => replicas.redis.signal('SIGSTOP'),
    start: async () => replicas.redis.signal('SIGCONT'),
  },
};
const isWell = async ({ rest }: OAuthFixture) => (await rest.get('/health/cache')).status === 200;
const untilWell = () =>
  untilTrue(async () => (await Promise.all(both().map(isWell))).every(Boolean), {
    deadlineMs: WELL_MS_MAX,
    what: 'both replicas have their cache again',
  });

const asOwner = () => replicas.one.as(replicas.admin);
const ENDS: readonly (readonly [string, (path: string) => Promise<{ readonly status: number }>])[] =
  [
    ['a role', (path) => asOwner().patch(path, { roles: [] })],
    ['a scope', (path) => asOwner().patch(path, { machine_scopes: ['applications:read'] })],
    ['its secret', (path) => asOwner().post(`${path}/rotate-secret`)],
    ['all of it', (path) => asOwner().delete(path)],
  ];

describe('what is taken from a machine that writes, while the cache is stopped', () => {
  afterEach(untilWell, WELL_MS_MAX);

  const cases = Object.entries(OUTAGES).flatMap(([cache, outage]) =>
    ENDS.map(([what, end]) => ({ what, end, cache, outage })),
  );

  it.each(cases)(
    'standards 2 is gone at both replicas once that is answered, and after: $what, with the cache $cache',
    async ({ end, outage }) => {
      const client = await application(replicas.one, replicas.admin, {
        ...{ name: 'CI', type: 'm2m', redirect_uris: [] },
        ...WRITER,
      });
      const bearer = await tokenOf(client);
      const writing = writer(bearer);
      await writing.until(() => writing.writes.length >= 2 * WRITES_MIN);
      expect(new Set(writing.writes.map(({ status }) => status))).toEqual(new Set([201]));

      await outage.stop();
      const killed = writing.writes.length;
      await writing.until(() => writing.writes.length >= killed + 2 * WRITES_MIN);
      const before = writing.writes.length;
      const taken = await end(`${APPLICATIONS}/${client.id}`);
      const takenMs = performance.now();
      expect(taken.status).toBe(200);
      for (const fixture of both()) expect(await list(fixture, bearer)).toBe(401);
      await writing.until(() => writing.writes.length >= before + 4 * WRITES_MIN);

      await outage.start();
      let well = false;
      const returning = untilWell().finally(() => {
        well = true;
      });
      do {
        for (const fixture of both()) expect(await list(fixture, bearer)).toBe(401);
      } while (!well);
      await returning;
      const back = writing.writes.length;
      await writing.until(() => writing.writes.length >= back + 2 * WRITES_MIN);
      await writing.stop();
      const after = writing.writes.filter(({ begunMs }) => begunMs > takenMs);
      expect(after.length).toBeGreaterThanOrEqual(4 * WRITES_MIN);
      expect(new Set(after.map(({ status }) => status))).toEqual(new Set([401]));
      // Without the cache a write is either refused or performed.
      const others = writing.writes.filter(({ begunMs }) => begunMs <= takenMs);
      for (const { status } of others) expect([201, 401, 403, 503]).toContain(status);
    },
    TEST_MS_MAX,
  );
});
