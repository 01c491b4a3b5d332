/** What an administrator changes at one replica takes effect at once for applications at the other. */
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { application, authorized, token } from './oauth-fixture.ts';
import { oauthReplicasOfFile } from './oauth-replicas-fixture.ts';

const replicas = oauthReplicasOfFile({ RATE_LIMIT_FACTOR: '100000' });
const ROUNDS = 10;

describe('standards 8 claims of an application on two replicas', () => {
  it('change with the answer to the change, and so does what they say', async () => {
    const { one, other, admin, bob } = replicas;
    const client = await application(one, admin, { first_party: true });
    const { access_token: bearer, ...tokens } = await authorized(one, { client, account: bob });
    const info = async () => (await other.rest.get('/oauth2/userinfo', { bearer })).body;
    const change = (path: string, body: object) => one.as(admin).patch(path, body);
    let refresh_token: string = tokens.refresh_token;
    for (let round = 0; round < ROUNDS; round += 1) {
      const plan = `plan ${round}`;
      const claims = [{ name: `plan_${round}`, from: 'public_metadata.plan' }];
      const answers = [
        await change(`/api/v1/admin/users/${bob.userId}`, { public_metadata: { plan } }),
        await change(`/api/v1/admin/applications/${client.id}`, { claims }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      const expected = { [`plan_${round}`]: plan };
      const shown = await info();
      expect(shown).toMatchObject(expected);
      expect(Object.keys(shown).filter((name) => name.startsWith('plan'))).toHaveLength(1);
      const form = { grant_type: 'refresh_token', client_id: client.client_id, refresh_token };
      const { body } = await token(other, form);
      expect(decodeJwt(body.id_token)).toMatchObject(expected);
      refresh_token = body.refresh_token;
    }
    await change(`/api/v1/admin/applications/${client.id}`, { claims: [] });
    expect(Object.keys(await info()).join(' ')).not.toContain('plan');
  });
});
