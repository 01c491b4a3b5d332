import { randomBytes } from 'node:crypto';
import { SERVICE_NAMES } from '@cardea/contracts';
import { readSettings } from '@cardea/runtime';
import {
  processFixture,
  programOf,
  type RestDriver,
  redisSays,
  testForm,
  untilTrue,
} from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { player } from '../../scripts/tour/player.ts';
import { playStory } from '../../scripts/tour/story.ts';
import { company, testCluster } from '../cluster-fixture.ts';
import { expectWoken } from '../woken-poll.ts';
import { ATTACKS, gotBy, strangersIn } from './attacks.ts';
import {
  closed,
  closeEarlier,
  expectFree,
  GONE_MS_MAX,
  isGone,
  PLAYED_MS_MAX,
} from './deleted-tenant.ts';
import { wrongAnswers } from './every-endpoint.ts';

/** Tests real processes. 1,000 pairs are in `packages/read-models/test/read-your-writes.int.test.ts`. */
const PAIRS = testForm.long ? 1_000 : 50;
/** The time limit for three requests on a busy machine. */
const PAIR_MS_MAX = 750;
/** The number of pairs for services whose writes are slow, or limited in number. */
const FEW_PAIRS = testForm.long ? 25 : 8;
/** Well below the 30 s for which identity's answer about a key is cached. */
const NOTICE_MS_MAX = 20_000;

const SECRETS = {
  JWT_SECRET: randomBytes(32).toString('hex'),
  ENCRYPTION_KEY: randomBytes(32).toString('hex'),
};
const processes = testCluster({ replicas: 2, env: { ...SECRETS, VAULT_REVEAL: 'on' } });
const besides = processFixture();
const CARDEA = programOf(new URL('../../services/standalone/src/cardea.ts', import.meta.url));
/** An endpoint of each service that an admin may read. */
const READABLE = {
  identity: '/api/v1/auth/me',
  authz: '/api/v1/fga/tuples',
  vault: '/api/v1/vault/services',
  approval: '/api/v1/ciba/requests',
  webhooks: '/api/v1/webhooks',
  audit: '/api/v1/audit/events',
};
const quiet = (): void => undefined;

const tupleOf = (object_id: string) => ({
  user_type: 'user',
  user_id: 'ada',
  relation: 'viewer',
  object_type: 'document',
  object_id,
});

describe('two processes of each service', () => {
  it('Q5 tell the same story as one process does', async () => {
    const { gateway, mailbox } = processes.cluster.addresses();
    await playStory(player(gateway, quiet), mailbox);
  });

  it('R0 answer each endpoint through nginx, by a process of its own service', async () => {
    expect(await wrongAnswers(processes.cluster)).toEqual([]);
  });

  it('R24 show a write to whoever brings its token to the other replica', {
    timeout: PAIRS * PAIR_MS_MAX,
  }, async () => {
    const admin = await company(processes.rest);
    const [writer, reader] = [1, 2].map((each) => processes.at('authz', each).as(admin));
    let stale = 0;
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const object = `pair-${pair}`;
      const wrote = await (writer as RestDriver).post('/api/v1/fga/tuples', tupleOf(object));
      expect(wrote.status).toBe(201);
      const token = wrote.headers.get('x-service-consistency') ?? '';
      const read = await (reader as RestDriver).get('/api/v1/fga/tuples', {
        query: { object_type: 'document', object_id: object },
        headers: { 'x-service-consistency': token },
      });
      if (read.body.total !== 1) stale += 1;
      const check = await (reader as RestDriver).post('/api/v1/fga/check', tupleOf(object), {
        headers: { 'x-service-consistency': token },
      });
      if (check.body.allowed !== true) stale += 1;
    }
    expect(stale).toBe(0);
  });

  it.each([
    {
      service: 'identity' as const,
      path: '/api/v1/api-keys',
      body: (n: number) => ({ name: `key-${n}`, scopes: ['fga:read'] }),
    },
    {
      service: 'vault' as const,
      path: '/api/v1/vault/services',
      body: (n: number) => ({
        name: `service-${n}`,
        credential_type: 'static',
        fields: [{ name: 'password' }],
      }),
    },
    {
      service: 'webhooks' as const,
      path: '/api/v1/webhooks',
      body: (n: number) => ({ url: `http://127.0.0.1:9/${n}`, events: ['user.created'] }),
    },
  ])('R24 show what was made at one process of $service to whoever asks the other', async (of) => {
    const admin = await company(processes.rest);
    for (let pair = 0; pair < FEW_PAIRS; pair += 1) {
      const [writer, reader] = pair % 2 === 0 ? [1, 2] : [2, 1];
      const made = await processes.at(of.service, writer).as(admin).post(of.path, of.body(pair));
      expect(made.status).toBe(201);
      const headers = { 'x-service-consistency': made.headers.get('x-service-consistency') ?? '' };
      const list = await processes.at(of.service, reader).as(admin).get(of.path, { headers });
      expect(JSON.stringify(list.body)).toContain(made.body.id);
    }
  });

  it('R24 go on projecting when the one that led is killed', async () => {
    const admin = await company(processes.rest);
    for (const [killed, left] of [
      [1, 2],
      [2, 1],
    ] as const) {
      const dying = processes.replica('authz', killed);
      await dying.end('SIGKILL');
      const rest = processes.at('authz', left).as(admin);
      const object = randomBytes(4).toString('hex');
      expect((await rest.post('/api/v1/fga/tuples', tupleOf(object))).status).toBe(201);
      const query = { object_type: 'document', object_id: object };
      const shown = async () => (await rest.get('/api/v1/fga/tuples', { query })).body.total === 1;
      await untilTrue(shown, { what: 'the other replica projects' });
      await dying.start();
      const back = processes.at('authz', killed).as(admin);
      expect((await back.get('/api/v1/fga/tuples', { query })).body.total).toBe(1);
    }
  });

  it('refuse a key on both as soon as one of identity has revoked it', async () => {
    const admin = await company(processes.rest);
    const [first, second] = [1, 2].map((each) => processes.at('identity', each).as(admin));
    const made = await (first as RestDriver).post('/api/v1/api-keys', {
      name: 'reader',
      scopes: ['fga:read'],
    });
    expect(made.status).toBe(201);
    const check = async (replica: number) => {
      const caller = { bearer: made.body.key, tenant: admin.tenant };
      const rest = processes.at('authz', replica).as(caller);
      return (await rest.post('/api/v1/fga/check', tupleOf('any'))).status;
    };
    expect([await check(1), await check(2)]).toEqual([200, 200]);
    const revoked = await (second as RestDriver).delete(`/api/v1/api-keys/${made.body.id}`);
    expect(revoked.status).toBe(200);
    // The notification may still be on its way when the answer arrives.
    const refused = async () => (await check(1)) === 401 && (await check(2)) === 401;
    await untilTrue(refused, { deadlineMs: NOTICE_MS_MAX, what: 'both refuse the key' });
  });

  it('ask whichever of identity is left who a caller is', async () => {
    const admin = await company(processes.rest);
    const dying = processes.replica('identity', 1);
    const rest = processes.at('identity', 2).as(admin);
    // Keys are requested before, so that there are connections to the process that dies.
    const keys = ['before', 'after'].map(async (name) => {
      const made = await rest.post('/api/v1/api-keys', { name, scopes: ['fga:read'] });
      return { bearer: made.body.key, tenant: admin.tenant };
    });
    const [before, after] = await Promise.all(keys);
    const checkWith = async (replica: number, caller: typeof before) => {
      const asked = processes.at('authz', replica).as(caller ?? {});
      return (await asked.post('/api/v1/fga/check', tupleOf('any'))).status;
    };
    expect([await checkWith(1, before), await checkWith(2, before)]).toEqual([200, 200]);
    await dying.end('SIGKILL');
    expect([await checkWith(1, after), await checkWith(2, after)]).toEqual([200, 200]);
    await dying.start();
  });

  it('wake a long poll at one when the other takes the decision', async () => {
    const admin = await company(processes.rest);
    const [first, second] = [1, 2].map((each) => processes.at('approval', each).as(admin));
    const agent = await processes.rest.as(admin).post('/api/v1/agents', { name: 'asker' });
    expect(agent.status).toBe(201);
    const ask = { agent_id: agent.body.id, user_id: admin.userId, action: 'write_data' };
    await expectWoken(processes.replica('approval', 1).management, async () => {
      const made = await untilTrue(async () => {
        const answer = await (first as RestDriver).post('/api/v1/ciba/requests', ask);
        return answer.status === 201 ? answer : undefined;
      });
      const path = `/api/v1/ciba/requests/${made.body.id}`;
      return {
        open: () => (first as RestDriver).get(`${path}/poll`),
        decide: () => (second as RestDriver).post(`${path}/approve`),
      };
    });
  });

  it('refuse what a key has signed at all twelve as soon as it is revoked, and take refresh tokens', async () => {
    const signedUp = await processes.rest.post('/api/v1/auth/signup', {
      email: 'robbed@example.com',
      password: 'a password for the tests',
      company_name: 'Robbed',
    });
    const { access_token: stolen, refresh_token, tenant_id: tenant } = signedUp.body;
    const asked = SERVICE_NAMES.flatMap((service) => [1, 2].map((each) => ({ service, each })));
    const statuses = (bearer: string) =>
      Promise.all(
        asked.map(async ({ service, each }) => {
          const rest = processes.at(service, each).as({ bearer, tenant });
          return (await rest.get(READABLE[service])).status;
        }),
      );
    expect(await statuses(stolen)).toEqual(asked.map(() => 200));

    const { postgres, redis } = processes.cluster.addresses();
    const revoking = await besides.start({
      name: 'cardea',
      script: CARDEA,
      args: ['keys', 'rotate', '--revoke', '--yes'],
      env: {
        ...SECRETS,
        ENV: 'development',
        DATABASE_URL: postgres,
        REDIS_URL: redis,
        CARDEA_COMPARTMENTS: 'true',
      },
    });
    expect(await revoking.ended, revoking.output()).toBe(0);
    await untilTrue(async () => (await statuses(stolen)).every((status) => status === 401), {
      deadlineMs: NOTICE_MS_MAX,
      what: 'all processes refuse the token',
    });
    const refreshed = await processes.rest.post('/api/v1/auth/refresh', { refresh_token });
    expect(refreshed.status).toBe(200);
    expect(await statuses(refreshed.body.access_token)).toEqual(asked.map(() => 200));
  });

  it('identity 15 leave nothing of a tenant that was deleted, though one of each is killed meanwhile', {
    timeout: PLAYED_MS_MAX,
  }, async () => {
    const { mailbox, postgres } = processes.cluster.addresses();
    const made = await closed(processes.rest, { mailbox, databaseUrl: postgres });
    await closeEarlier(postgres, made.id);
    const reborn = async (each: ReturnType<typeof processes.replica>) => {
      await each.end('SIGKILL');
      await each.start();
    };
    // Identity has read the tenant already, and searches for closed tenants as soon as it starts.
    await reborn(processes.replica('identity', 2));
    await Promise.all(SERVICE_NAMES.map((service) => reborn(processes.replica(service, 1))));
    await untilTrue(() => isGone(postgres, made.id), {
      what: 'it is gone',
      deadlineMs: GONE_MS_MAX,
    });
    await expectFree(processes.rest, made);
  });

  it('S25 show what they offer to each other neither at the gateway nor at their own addresses', async () => {
    const { addresses } = processes.cluster;
    const servers = [addresses().gateway, ...processes.cluster.processes.map(({ api }) => api)];
    const paths = ['introspect', 'approval/open', 'authz/holders', 'authz/check'];
    for (const path of [...paths.map((each) => `/internal/v1/${each}`), '/internal']) {
      for (const server of servers) {
        const answer = await fetch(`${server}${path}`, { method: 'POST', body: '{}' });
        expect(answer.status, `${server}${path}`).toBe(404);
      }
    }
    for (const { internal } of processes.cluster.processes) {
      expect((await fetch(`${internal}/internal/v1/jwks`)).status).toBe(401);
    }
  });

  it('S25 ask the cache for nothing that their users may not have', async () => {
    expect(await redisSays(processes.cluster.addresses().redis, ['ACL', 'LOG'])).toBe('*0');
  });

  it('S25 hold nothing of the deployment, and nothing of each other', () => {
    const { postgres, redis } = processes.cluster.addresses();
    const read = readSettings({ ...SECRETS, DATABASE_URL: postgres, REDIS_URL: redis });
    if ('faults' in read) throw new Error('wrong settings');
    expect(strangersIn(processes.cluster, read.ok)).toEqual([]);
  });

  it.each(ATTACKS)('S25 give $by, taken over, nothing of what belongs to $on', async (attack) => {
    expect(await gotBy(attack, processes.cluster)).toEqual([]);
  });
});
