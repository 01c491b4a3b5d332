/** People change an address that they can no longer read: with a second factor, and after seven days. */
import { untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import {
  codeOf,
  DAY_MS,
  EMAIL,
  emailChangesOf,
  MINUTE_MS,
  NEW,
  newEmail,
  statusOf,
} from './email-change-fixture.ts';
import { type Account, identityOfFile, PASSWORD } from './identity-fixture.ts';
import { mfaTokenOf, show, withTotp } from './mfa-fixture.ts';

const STOP = '/api/v1/auth/email-change/stop';
const ofFile = identityOfFile({ RATE_LIMIT_FACTOR: '10000' });
const { fixture } = ofFile;
const { ask, asAdmin, emailOf, holdersOf, newcomer, press, subjectsTo, typesOf, withOldFactor } =
  emailChangesOf(ofFile);

describe('identity 29 a person who cannot read their present address', () => {
  const outOfReach = { present_out_of_reach: true };

  it('has the new one seven days after asking with a second factor, and the old one is told twice', async () => {
    const eva = await withOldFactor();
    const email = newEmail();
    expect((await ask(eva, email, outOfReach)).status).toBe(202);
    await fixture.mail(eva.email, /about to get another address/);
    expect(statusOf(await press((await fixture.mail(email, NEW)).token))).toBe('200 proof kept');
    expect((await emailOf(eva)).change).toMatchObject({ missing: [] });
    fixture.clock.move(6 * DAY_MS + MINUTE_MS);
    await untilTrue(async () => (await typesOf(eva)).includes('EmailChangeReminded'), {
      what: 'the reminder',
    });
    expect(await typesOf(eva)).not.toContain('EmailChanged');
    fixture.clock.move(DAY_MS);
    await untilTrue(async () => (await typesOf(eva)).includes('EmailChanged'), {
      what: 'the change',
    });
    expect(await holdersOf(email)).toEqual([eva.userId]);
    const about = (await subjectsTo(eva.email)).filter((one) => /about to get another/.test(one));
    expect(about).toHaveLength(2);
  });

  it('cannot begin it with a password alone, nor with a factor that was enrolled for it', async () => {
    const bob = await newcomer();
    expect(codeOf(await ask(bob, newEmail(), outOfReach))).toBe('403 second_factor_required');
    const eva = await withTotp(fixture, await newcomer());
    const [code = ''] = eva.recoveryCodes;
    const shown = await show(fixture, await mfaTokenOf(fixture, eva), { method: 'recovery', code });
    const me = { ...eva, access: shown.body.access_token };
    expect(codeOf(await ask(me, newEmail(), outOfReach))).toBe('403 second_factor_required');
  });

  it('a stolen mailbox proves one side alone, where the account has a second factor', async () => {
    const eva = await withTotp(fixture, await newcomer());
    const { tenantId: tenant, email } = eva;
    await fixture.rest.post('/api/v1/auth/magic-link', { email }, { tenant });
    const { token } = await fixture.mail(email, /^Sign in$/);
    const entered = await fixture.rest.post('/api/v1/auth/magic-link/verify', { token });
    expect(entered.body.mfa_required).toBe(true);
    expect(entered.body.access_token).toBeUndefined();
    const begun = fixture.rest.as({ bearer: entered.body.mfa_token, tenant });
    expect((await begun.post(EMAIL, { email: newEmail() })).status).toBe(401);
  });

  it.each([
    [
      'the mailed link',
      async (eva: Account) => {
        const { token } = await fixture.mail(eva.email, /about to get another address/);
        expect(statusOf(await press(token, STOP))).toBe('200 email change stopped');
        expect(codeOf(await press(token, STOP))).toBe('401 invalid_link');
      },
    ],
    [
      'the account',
      async (eva: Account) => {
        expect((await fixture.as(eva).delete(EMAIL)).status).toBe(200);
      },
    ],
    [
      'an administrator',
      async (eva: Account) => {
        const by = await asAdmin();
        const { email } = eva;
        const kept = await by.patch(`/api/v1/admin/users/${eva.userId}`, { email });
        expect(kept.status).toBe(200);
      },
    ],
  ])('is stopped by %s, and told', async (_, stop) => {
    const eva = await withOldFactor();
    const email = newEmail();
    await ask(eva, email, outOfReach);
    await press((await fixture.mail(email, NEW)).token);
    await stop(eva);
    expect((await emailOf(eva)).change).toBeNull();
    await fixture.mail(eva.email, /Security notice: your address stays as it is/);
    fixture.clock.move(8 * DAY_MS);
    expect(await typesOf(eva)).not.toContain('EmailChanged');
  });

  it.each([
    [
      'the factor is gone',
      async (eva: Account) => {
        const by = await asAdmin();
        await by.post(`/api/v1/admin/users/${eva.userId}/reset-mfa`, {});
      },
    ],
    [
      'the account is disabled',
      async (eva: Account) => {
        const by = await asAdmin();
        await by.patch(`/api/v1/admin/users/${eva.userId}`, { status: 'disabled' });
      },
    ],
    [
      'the address is taken',
      async (_eva: Account, email: string) => {
        const by = await asAdmin();
        await by.post('/api/v1/admin/users', { email, password: PASSWORD });
      },
    ],
  ])('nothing happens on the day where %s, and they are told', async (_, spoil) => {
    const eva = await withOldFactor();
    const email = newEmail();
    await ask(eva, email, outOfReach);
    await press((await fixture.mail(email, NEW)).token);
    await spoil(eva, email);
    fixture.clock.move(7 * DAY_MS + MINUTE_MS);
    await untilTrue(async () => (await typesOf(eva)).includes('EmailChangeStopped'), {
      what: 'its end',
    });
    expect(await typesOf(eva)).not.toContain('EmailChanged');
    await fixture.mail(eva.email, /Security notice: your address stays as it is/);
  });
});
