import { describe, expect, it } from 'vitest';
import { claimsOf, identityOfFile } from './identity-fixture.ts';

const { fixture, admin } = identityOfFile({ RATE_LIMIT_FACTOR: '1000' });

const LEEWAY_MS = 10_000;
const codes = (answers: readonly { status: number; code: string | undefined }[]) =>
  answers.map(({ status, code }) => `${status} ${code ?? 'ok'}`).sort();

describe('refreshing', () => {
  it('identity 4 of fifty at once with one token one wins, and its successor works', async () => {
    const { tenantId } = await fixture.signUp();
    // Long enough for a busy machine to make fifty requests.
    await fixture.setTenant(tenantId, { refresh: { mode: 'leeway', leeway_seconds: 300 } });
    const { refresh } = await fixture.register(tenantId);
    const answers = await Promise.all(Array.from({ length: 50 }, () => fixture.refresh(refresh)));
    const winners = answers.filter(({ status }) => status === 200);
    expect(codes(answers)).toEqual(['200 ok', ...Array(49).fill('401 refresh_token_rotated')]);
    expect((await fixture.refresh(winners[0]?.body.refresh_token)).status).toBe(200);
  });

  it('identity 5 ends the family when a predecessor comes back after the leeway', async () => {
    const { refresh } = await fixture.register(admin.tenantId);
    const { body } = await fixture.refresh(refresh);
    expect((await fixture.refresh(refresh)).code).toBe('refresh_token_rotated');
    fixture.clock.move(LEEWAY_MS + 1_000);
    expect((await fixture.refresh(refresh)).code).toBe('refresh_token_rotated');
    expect((await fixture.refresh(body.refresh_token)).code).toBe('invalid_refresh_token');
  });

  it('identity 5 ends the family at once for a token older than the predecessor', async () => {
    const { refresh } = await fixture.register(admin.tenantId);
    const second = (await fixture.refresh(refresh)).body.refresh_token;
    const third = (await fixture.refresh(second)).body.refresh_token;
    expect((await fixture.refresh(refresh)).code).toBe('refresh_token_rotated');
    expect((await fixture.refresh(third)).code).toBe('invalid_refresh_token');
  });

  it('identity 5 repeats the successor in idempotent mode, within the leeway only', async () => {
    const { tenantId } = await fixture.signUp();
    await fixture.setTenant(tenantId, { refresh: { mode: 'idempotent', leeway_seconds: 10 } });
    const { refresh } = await fixture.register(tenantId);
    const answers = await Promise.all(Array.from({ length: 10 }, () => fixture.refresh(refresh)));
    expect(codes(answers)).toEqual(Array(10).fill('200 ok'));
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
    fixture.clock.move(LEEWAY_MS + 1_000);
    expect((await fixture.refresh(refresh)).code).toBe('refresh_token_rotated');
    expect((await fixture.refresh(answers[0]?.body.refresh_token)).code).toBe(
      'invalid_refresh_token',
    );
  });

  it.each([
    ['nothing of ours', () => 'rt_nonsense'],
    ['an empty MAC', (token: string) => token.slice(0, token.lastIndexOf('.') + 1)],
    ['a later number', (token: string) => token.replace('.0.', '.1.')],
    ['another session', (token: string) => token.replace(/rt_.{8}/, 'rt_00000000')],
    ['a changed MAC', (token: string) => token.slice(0, -2) + (token.endsWith('AA') ? 'BA' : 'AA')],
  ])('takes no token with %s', async (_what, forge) => {
    const { refresh } = await fixture.register(admin.tenantId);
    expect((await fixture.refresh(forge(refresh))).code).toBe('invalid_refresh_token');
    expect((await fixture.refresh(refresh)).status).toBe(200);
  });

  it('agrees with a tenant header, or refuses as any other fault', async () => {
    const other = await fixture.signUp();
    const { refresh, tenantId } = await fixture.register(admin.tenantId);
    const body = { refresh_token: refresh };
    const wrong = await fixture.rest.post('/api/v1/auth/refresh', body, { tenant: other.tenantId });
    expect(wrong.code).toBe('invalid_refresh_token');
    const right = await fixture.rest.post('/api/v1/auth/refresh', body, { tenant: tenantId });
    expect(right.status).toBe(200);
  });

  it('puts new roles and addresses into the next access token', async () => {
    const bob = await fixture.registerVerified(admin.tenantId);
    await fixture.as(admin).patch(`/api/v1/admin/users/${bob.userId}`, { roles: ['admin'] });
    const { body } = await fixture.refresh(bob.refresh);
    expect(claimsOf(body.access_token)).toMatchObject({
      roles: ['admin'],
      sid: claimsOf(bob.access).sid,
    });
  });
});

describe('ending sessions', () => {
  it('identity 6 keeps the session of the caller, and ends all others', async () => {
    const bob = await fixture.register(admin.tenantId);
    const second = (await fixture.logIn(bob)).body;
    const third = (await fixture.logIn(bob)).body;
    const me = fixture.as({ access: third.access_token, tenantId: bob.tenantId });
    const list = await me.get('/api/v1/me/sessions');
    expect(list.body.count).toBe(3);
    const current = list.body.sessions.filter((session: { current: boolean }) => session.current);
    expect(current).toHaveLength(1);
    expect(current[0].id).toBe(claimsOf(third.access_token).sid);
    expect((await me.delete('/api/v1/me/sessions')).body).toEqual({ revoked: 2, kept: 1 });
    expect((await fixture.refresh(second.refresh_token)).code).toBe('invalid_refresh_token');
    expect((await fixture.refresh(third.refresh_token)).status).toBe(200);
    expect((await me.get('/api/v1/me/sessions')).body.count).toBe(1);
  });

  it('identity 6 keeps none when the token of the caller names no living session', async () => {
    const bob = await fixture.register(admin.tenantId);
    const other = (await fixture.logIn(bob)).body;
    const me = fixture.as(bob);
    await me.delete(`/api/v1/me/sessions/${claimsOf(bob.access).sid}`);
    expect((await me.delete('/api/v1/me/sessions')).body).toEqual({ revoked: 1, kept: 0 });
    expect((await fixture.refresh(other.refresh_token)).code).toBe('invalid_refresh_token');
  });

  it('identity 6 lets no refresh that races with it survive', async () => {
    for (let round = 0; round < 10; round += 1) {
      const bob = await fixture.register(admin.tenantId);
      const other = (await fixture.logIn(bob)).body;
      const [raced] = await Promise.all([
        fixture.refresh(other.refresh_token),
        fixture.as(bob).delete('/api/v1/me/sessions'),
      ]);
      const next = raced.status === 200 ? raced.body.refresh_token : other.refresh_token;
      expect((await fixture.refresh(next)).status).toBe(401);
    }
  });

  it('answers for a foreign session as for an unknown one', async () => {
    const [ann, bob] = [
      await fixture.register(admin.tenantId),
      await fixture.register(admin.tenantId),
    ];
    const path = (sid: string) => `/api/v1/me/sessions/${sid}`;
    const foreign = await fixture.as(ann).delete(path(claimsOf(bob.access).sid));
    const unknown = await fixture.as(ann).delete(path('00000000-0000-7000-8000-000000000000'));
    const bare = ({ body, status }: typeof foreign) => ({ status, ...body.error, request_id: '' });
    expect(foreign.status).toBe(404);
    expect(bare(foreign)).toEqual(bare(unknown));
    expect((await fixture.refresh(bob.refresh)).status).toBe(200);
  });
});
