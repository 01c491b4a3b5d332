/** What guesses at an agent's key use up at the token endpoint. */
import { describe, expect, it } from 'vitest';
import { oauthOfFile } from './oauth-fixture.ts';
import {
  basicOf,
  exchangingAgent,
  postToken,
  tokenExchangeForm,
} from './token-exchange-fixture.ts';

const { fixture, admin } = oauthOfFile({
  RATE_LIMIT_FACTOR: '1',
  TRUSTED_PROXIES: '127.0.0.1/32',
});

const failuresSince = async (position: bigint) =>
  (await fixture.eventsSince(position)).filter(({ type }) => type === 'ClientAuthFailed');

describe('an agent whose key is guessed', () => {
  it('P6 still exchanges after 300 wrong keys from three addresses; 60 a minute are recorded [oauth 38]', async () => {
    const agent = await exchangingAgent(fixture, admin);
    const other = await exchangingAgent(fixture, admin);
    const bob = await fixture.register(admin.tenantId);
    const before = await fixture.head();
    // Well-formed keys with a right checksum, but of another agent.
    const guess = (at: number, secret: string) =>
      postToken(fixture, tokenExchangeForm(bob.access), {
        ...{ authorization: basicOf(agent.id, secret) },
        'x-forwarded-for': `203.0.113.${at % 3}`,
      });
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, at) => guess(at, at % 2 === 0 ? other.key : 'agk_wrong')),
    );
    const counted = (status: number) => answers.filter((each) => each.status === status).length;
    expect([counted(401), counted(429)]).toEqual([3 * 60, 300 - 3 * 60]);
    expect(await failuresSince(before)).toHaveLength(60);
    const right = {
      authorization: basicOf(agent.id, agent.key),
      'x-forwarded-for': '198.51.100.7',
    };
    expect((await postToken(fixture, tokenExchangeForm(bob.access), right)).status).toBe(200);
  });

  it('is counted together with what was guessed at POST /agent/sessions from that address [oauth 38]', async () => {
    const agent = await exchangingAgent(fixture, admin);
    const bob = await fixture.register(admin.tenantId);
    const unknown = await exchangingAgent(fixture, await fixture.signUp('eve'));
    await fixture.as(admin).delete(`/api/v1/agents/${agent.id}/keys/${agent.keyId}`);
    const from = { 'x-forwarded-for': '198.51.100.77' };
    const rest = fixture.rest.as({ bearer: agent.key, tenant: admin.tenantId });
    const statuses = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const body = { services: [], subject_token: bob.access };
        return (await rest.post('/api/v1/agent/sessions', body, { headers: from })).status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([401]));
    const authorization = basicOf(unknown.id, unknown.key);
    const answer = await postToken(fixture, tokenExchangeForm(bob.access), {
      authorization,
      ...from,
    });
    expect([answer.status, answer.body.error]).toEqual([429, 'temporarily_unavailable']);
  });
});
