/** Tests which events end a grant, who sees it, and what is published about it. */
import { type IntegrationEvent, topicOf } from '@cardea/contracts';
import { EventStoreUnavailable } from '@cardea/event-store';
import { pageCookies } from '@cardea/pages';
import { CacheUnavailable } from '@cardea/runtime';
import { testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  heard,
  newTenant,
  type Session,
  sessionData,
  startSession,
  type VaultFixture,
  vaultFixture,
} from './fixture.ts';

const database = testDatabase();
let rig: VaultFixture;
const published: IntegrationEvent[] = [];
const lines: string[] = [];
beforeAll(async () => {
  rig = await vaultFixture(database.url, { onLog: (line) => lines.push(line) });
  await rig.shared.subscriberFor('authz').run({
    name: 'vault-test',
    topics: [topicOf('vault')],
    handle: async (events) => void published.push(...events),
  });
});
afterAll(async () => {
  await rig?.stop();
});

const grantPath = (id: string) => `/api/v1/vault/grants/${id}`;

async function vended() {
  const tenantId = newTenant();
  await rig.keep(tenantId);
  const session = rig.session({ tenantId });
  const { status, body } = await session.vend();
  expect(status).toBe(200);
  return { tenantId, session, grantId: body.data.grant_id as string };
}
const endSession = async (tenantId: string, session: Session) => {
  await startSession(rig, tenantId, session);
  const data = { ...sessionData(session), reason: 'ended', ended_at: new Date().toISOString() };
  const streamId = `agent_session-${session.sessionId}`;
  await rig.publish({ source: 'identity', type: 'agent_session.ended', tenantId, streamId, data });
  await heard(rig, 'agent_sessions', 'session_id = $1 AND ended_at IS NOT NULL', [
    session.sessionId,
  ]);
};

describe('a grant', () => {
  it('vault 7 is another after rotation, policy change or revocation, with the value of now', async () => {
    const { tenantId, session, grantId } = await vended();
    const ids = [grantId];
    const next = async (): Promise<string> => {
      const { status, body } = await session.vend();
      expect(status).toBe(200);
      ids.push(body.data.grant_id);
      return body.data.fields.password;
    };
    expect((await rig.put(tenantId, { password: 'rotated' })).status).toBe(200);
    expect(await next()).toBe('rotated');
    await rig.admin(tenantId).delete(grantPath(ids[1] ?? ''));
    expect(await next()).toBe('rotated');
    const { body: policy } = await rig.admin(tenantId).post('/api/v1/vault/approval-policies', {
      name: 'p',
      service_name: 'db',
      fields: '*',
      agent_ids: '*',
      effect: 'require_approval',
    });
    await rig.vouch(tenantId, ['ann']);
    expect((await session.vend()).status).toBe(202);
    await rig.admin(tenantId).delete(`/api/v1/vault/approval-policies/${policy.id}`);
    expect(await next()).toBe('rotated');
    const pending = await rig.put(tenantId, { password: 'pending' }, { stage: 'pending' });
    expect(pending.status).toBe(200);
    expect((await session.vend()).body.data.fields.password).toBe('rotated');
    expect(new Set(ids.slice(0, 3)).size).toBe(3);
  });

  it('vault 3 token of session A: 403 on active B, 404 on ended B; what is foreign looks unknown', async () => {
    const { tenantId, session } = await vended();
    const other = rig.session({ tenantId, agentId: session.agentId });
    await startSession(rig, tenantId, other);
    const on = (path: string, service_name = 'db') =>
      rig.rest.post(
        `/api/v1/agent/sessions/${path}/credentials`,
        { service_name, fields: ['user'] },
        {
          bearer: session.key,
          tenant: tenantId,
          headers: { 'x-service-token': session.capability },
        },
      );
    expect((await on(other.sessionId)).code).toBe('CREDENTIAL_SCOPE_DENIED');
    await endSession(tenantId, other);
    const ended = await on(other.sessionId);
    expect([ended.status, ended.code]).toEqual([404, 'NOT_FOUND']);

    const foreignTenant = newTenant();
    await rig.keep(foreignTenant, 'theirs');
    const foreign = rig.session({ tenantId: foreignTenant });
    await endSession(foreignTenant, foreign);
    const bare = ({ body }: { body: { error: { request_id: string } } }) => ({
      ...body.error,
      request_id: '',
    });
    const unknown = await on('no-such-session');
    expect(bare(await on(foreign.sessionId))).toEqual(bare(unknown));
    expect(bare(await on(session.sessionId, 'theirs'))).toEqual(
      bare(await on(session.sessionId, 'no-such')),
    );
  });

  it('vault 4 is not handed out once session, key or agent ended, with the cache or without', async () => {
    const { cache } = rig.shared;
    for (const [mark, status] of [
      ['key', 401],
      ['agent', 401],
      ['asid', 404],
      ['user', 403],
    ] as const) {
      const { session } = await vended();
      const ids = {
        key: session.keyId,
        agent: session.agentId,
        asid: session.sessionId,
        user: 'ann',
      };
      await cache.set(`rev:${mark}:${ids[mark]}`, '1');
      expect((await session.vend()).status).toBe(status);
      await cache.delete(`rev:${mark}:${ids[mark]}`);
    }
    const ended = await vended();
    const revoked = await vended();
    await endSession(ended.tenantId, ended.session);
    const away = async (): Promise<never> => {
      throw new CacheUnavailable('stopped');
    };
    const { identity } = rig.host.needsOf('vault').peers;
    const own = { getMany: cache.getMany, get: cache.get, set: cache.set };
    const { ended: wereEnded } = identity;
    try {
      Object.assign(cache, { getMany: away, get: away, set: away });
      expect((await revoked.session.vend()).status).toBe(200);
      expect((await ended.session.vend()).status).toBe(404);
      Object.assign(identity, { ended: async () => ({ ended: [true, false, false, false] }) });
      expect((await revoked.session.vend()).status).toBe(401);
    } finally {
      Object.assign(cache, own);
      Object.assign(identity, { ended: wereEnded });
    }
  });

  it('vault 10 with the event store stopped a new grant is 503 and shows no value', async () => {
    const { tenantId, session } = await vended();
    const { store } = rig.host.needsOf('vault');
    const { append } = store;
    const stopped = async (): Promise<never> => {
      throw new EventStoreUnavailable('stopped');
    };
    try {
      Object.assign(store, { append: stopped });
      expect((await session.vend()).status).toBe(200);
      const answer = await session.vend({ force_refresh: true });
      expect([answer.status, answer.code]).toEqual([503, 'UNAVAILABLE']);
      expect(answer.text).not.toContain(`secret of ${tenantId}`);
    } finally {
      Object.assign(store, { append });
    }
  });

  it('is listed with its status and its grounds, to admins all, to an agent its own', async () => {
    const { tenantId, session, grantId } = await vended();
    const second = (await session.vend({ force_refresh: true })).body.data.grant_id;
    const stranger = rig.session({ tenantId });
    const theirs = (await stranger.vend()).body.data.grant_id;
    const listed = await rig.admin(tenantId).get('/api/v1/vault/grants');
    const statusOf = Object.fromEntries(
      listed.body.grants.map((g: { grant_id: string; status: string }) => [g.grant_id, g.status]),
    );
    expect(statusOf).toEqual({ [grantId]: 'superseded', [second]: 'active', [theirs]: 'active' });
    const agent = rig.rest.as({ bearer: session.key, tenant: tenantId });
    const own = await agent.get('/api/v1/vault/grants');
    expect(own.body.total).toBe(2);
    expect((await agent.get(grantPath(theirs))).code).toBe('grant_not_found');
    expect((await agent.delete(grantPath(theirs))).code).toBe('grant_not_found');
    const one = await agent.get(grantPath(second));
    expect(one.body).toMatchObject({
      service_name: 'db',
      fields: ['password', 'user'],
      user_id: 'ann',
    });
    expect(one.body.why).toMatchObject({ policies: [], approval: null });
    expect(one.text + listed.text).not.toContain('secret of');
    for (let at = 0; at < 2; at += 1) {
      expect((await agent.delete(grantPath(second))).body).toEqual({ status: 'revoked' });
    }
    expect((await agent.get(grantPath(second))).body.status).toBe('revoked');
    const active = { query: { status: 'active', agent_id: session.agentId } };
    expect((await rig.admin(tenantId).get('/api/v1/vault/grants', active)).body.total).toBe(0);
  });

  it.each([
    ['agent_session.ended', 'session_ended'],
    ['agent.deleted', 'agent_deleted'],
    ['user.deleted', 'user_deleted'],
    ['delegation.withdrawn', 'delegation_withdrawn'],
  ])('ends with %s', async (type, cause) => {
    const { tenantId, session, grantId } = await vended();
    const at = new Date().toISOString();
    const data = {
      'agent_session.ended': { ...sessionData(session), reason: 'ended', ended_at: at },
      'agent.deleted': { id: session.agentId, deleted_at: at },
      'user.deleted': { id: 'ann', deleted_at: at },
      'delegation.withdrawn': { id: 'd', user_id: 'ann', agent_id: session.agentId, services: [] },
    }[type];
    await rig.publish({
      source: 'identity',
      type,
      tenantId,
      streamId: `${type}-${session.sessionId}`,
      data: data ?? {},
    });
    const revoked = await untilTrue(async () =>
      (await rig.eventsOf(tenantId)).find((event) => event.type === 'GrantRevoked'),
    );
    expect([revoked.data['revoked_grant_id'], revoked.data['cause']]).toEqual([grantId, cause]);
  });

  it('ends with its service, whose name is then free and whose values are gone', async () => {
    const { tenantId, session } = await vended();
    const path = '/api/v1/vault/services/db';
    expect((await rig.admin(tenantId).delete(path)).body).toEqual({ status: 'service deleted' });
    expect((await session.vend()).status).toBe(404);
    const { rows } = await rig.shared.database.system.query(
      'SELECT 1 FROM vault.secret_versions WHERE tenant_id = $1 AND blob IS NOT NULL',
      [tenantId],
    );
    expect(rows).toEqual([]);
    await untilTrue(async () =>
      (await rig.eventsOf(tenantId)).find((event) => event.type === 'GrantRevoked'),
    );
    await rig.keep(tenantId);
    expect((await session.vend()).status).toBe(200);
  });

  it('vault 12 is told to the others by names and ids, and its value is told to nobody', async () => {
    const { tenantId, session, grantId } = await vended();
    for (let at = 0; at < 3; at += 1) await session.vend();
    await session.vend({ service_name: 'unknown' });
    await rig.admin(tenantId).delete(grantPath(grantId));
    const mine = () => published.filter((event) => event.tenantId === tenantId);
    const wanted = [
      'vault.service.registered',
      'vault.secret.written',
      'vault.credential.granted',
      'vault.credential.reused',
      'vault.credential.refused',
      'vault.credential.revoked',
    ];
    const reused = () => mine().filter(({ type }) => type === 'vault.credential.reused');
    const countOfReused = () => reused().reduce((sum, { data }) => sum + Number(data['count']), 0);
    const isTold = (type: string) => mine().some((event) => event.type === type);
    await untilTrue(() => wanted.every(isTold) && countOfReused() >= 3, { what: 'all of them' });
    const granted = mine().find(({ type }) => type === 'vault.credential.granted');
    expect(granted?.actor).toEqual({ type: 'agent', id: session.agentId });
    expect(Object.keys(granted?.data ?? {}).sort()).toEqual([
      'agent_id',
      'approval_id',
      'context',
      'credential_type',
      'expires_at',
      'fields',
      'grant_id',
      'granted_at',
      'service_name',
      'session_id',
      'user_id',
    ]);
    expect(countOfReused()).toBe(3);
    const told = JSON.stringify([mine(), await rig.eventsOf(tenantId)], (_key, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(told).not.toContain('secret of');
    expect(lines.join('')).not.toContain('secret of');
  });
});

describe('identity 31 what agents were given in a person’s name', () => {
  it('is listed for that person alone, page by page and without values', async () => {
    const { tenantId, session, grantId } = await vended();
    const path = '/api/v1/me/grants';
    const as = (id: string) =>
      rig.rest.as({ bearer: rig.tokens.user({ tenantId, id }), tenant: tenantId });
    const shown = await as('ann').get(path, { query: { limit: '1' } });
    expect(shown.status, shown.text).toBe(200);
    expect(shown.body.grants).toMatchObject([
      { grant_id: grantId, session_id: session.sessionId, user_id: 'ann' },
    ]);
    const { next_cursor: cursor } = shown.body;
    const after = await as('ann').get(path, { query: { limit: '1', cursor } });
    expect(after.body).toEqual({ grants: [], next_cursor: null });
    expect((await as('eve').get(path)).body).toEqual({ grants: [], next_cursor: null });
    expect((await as('ann').get(path, { query: { cursor: 'x' } })).status).toBe(400);
  });

  it('is a page of their account, whose first rows other pages show, and the values are in neither', async () => {
    const { tenantId } = await vended();
    const cookies = pageCookies(rig.host.needsOf('vault').pageKeys, rig.settings);
    const shownTo = async (id: string, path: string) => {
      const [cookie = ''] = cookies
        .written(cookies.begun(rig.tokens.user({ tenantId, id })))
        .split(';');
      const answer = await fetch(rig.baseUrl + path, { headers: { cookie, accept: 'text/html' } });
      expect(answer.status).toBe(200);
      return answer.text();
    };
    for (const path of ['/account/grants', '/account/grants?part=recent']) {
      const page = await shownTo('ann', path);
      expect(page).toContain('password');
      expect(page).toContain('can be used');
      expect(page).not.toContain(`secret of ${tenantId}`);
      expect(await shownTo('eve', path)).toContain('No agent got a secret for you yet.');
    }
    const stranger = await fetch(`${rig.baseUrl}/account/grants`, { redirect: 'manual' });
    expect(stranger.headers.get('location')).toBe('/account/sign-in?return_to=%2Faccount%2Fgrants');
  });
});
