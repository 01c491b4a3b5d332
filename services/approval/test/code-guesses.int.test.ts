/** Binding codes have four digits; who guesses at them is blocked for growing times. */
import { testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApprovalFixture, approvalFixture } from './approval-fixture.ts';

const database = testDatabase();
let fixture: ApprovalFixture;
beforeAll(async () => {
  fixture = await approvalFixture(database.url);
});
afterAll(async () => {
  await fixture?.stop();
});

const REQUESTS = '/api/v1/ciba/requests';

describe('an approver who does not know the codes', () => {
  it('P7 guesses codes at 20 times a day over all requests, then not for 15 minutes, an hour, …', async () => {
    const { ann, id: tenant } = await fixture.people('guessing');
    let made = 0;
    // Three denials would mute one agent for an hour.
    const guessAll = async () => {
      made += 1;
      const opened = await fixture.open(tenant, {
        ...{ digest: `guessing ${made}`, number_match: true, agent_id: `bot ${made}` },
      });
      const path = `${REQUESTS}/${opened['id']}/approve`;
      const seen: { readonly code: string | undefined; readonly after: string | null }[] = [];
      for (let guess = 0; guess < 3; guess += 1) {
        const { code, headers } = await ann.post(path, { binding_code: 'nope' });
        seen.push({ code, after: headers.get('retry-after') });
      }
      const right = /code (\d{4})$/.exec(String(opened['binding_message']))?.[1] ?? '';
      return { seen, approve: () => ann.post(path, { binding_code: right }) };
    };
    const codes: (string | undefined)[] = [];
    let last = await guessAll();
    codes.push(...last.seen.map(({ code }) => code));
    while (codes.length < 21) {
      last = await guessAll();
      codes.push(...last.seen.map(({ code }) => code));
    }
    expect(codes.slice(0, 21)).toEqual([
      ...Array(20).fill('binding_code_mismatch'),
      'too_many_attempts',
    ]);
    expect(last.seen[2]?.after).toBe('900');
    expect((await last.approve()).code).toBe('too_many_attempts');
    await fixture.publish({
      ...{ source: 'identity', type: 'user.unlocked', tenantId: tenant, streamId: 'signin-ann' },
      data: { id: 'ann' },
    });
    await untilTrue(async () => (await guessAll()).seen[0]?.code === 'binding_code_mismatch', {
      what: 'an administrator has let them try again',
    });
  });
});
