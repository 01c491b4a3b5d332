import { testForm } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type Account, PASSWORD } from './identity-fixture.ts';
import { changePassword, fromNetwork, identityReplicas, tally } from './replicas-fixture.ts';

const ROUNDS = testForm.long ? 20 : 8;
const CALLERS = 50;
/**
 * The number of networks that the sign-ins of an address track. Each makes as many concurrent attempts as are allowed.
 */
const NETWORKS = 5;

const replicas = identityReplicas();
const logInFrom = async (network: number, { tenantId: tenant, email }: Account) => {
  const body = { email, password: PASSWORD };
  const headers = fromNetwork(network);
  const answer = await replicas.first.rest.post('/api/v1/auth/login', body, { tenant, headers });
  expect(answer.status).toBe(200);
};
const next = (n: number) => `the new password ${n}`;
/** On a busy machine a change may fail because of contention. It has then changed nothing and is sent again. */
const changed: typeof changePassword = async (...of) => {
  for (;;) {
    const answer = await changePassword(...of);
    if (answer.code !== 'write_contention') return answer;
  }
};

describe('changing a password', () => {
  it('R11 S11 fifty at once with one current password, on two replicas, round after round, change it once', async () => {
    const admin = await replicas.first.signUp();
    for (let round = 0; round < ROUNDS; round += 1) {
      const bob = await replicas.first.register(admin.tenantId);
      for (let network = 0; network < NETWORKS; network += 1) await logInFrom(network, bob);
      const answers = await Promise.all(
        Array.from({ length: CALLERS }, (_, n) =>
          changed(replicas.at(n), bob, {
            from: PASSWORD,
            to: next(n),
            network: n % NETWORKS,
          }),
        ),
      );
      expect(tally(answers)).toEqual({ '200 ok': 1, '401 invalid_credentials': CALLERS - 1 });
      const won = answers.findIndex(({ status }) => status === 200);
      expect((await replicas.second.logIn(bob, next(won))).status).toBe(200);
    }
  });

  it('six at once from one place change it once, and lock nobody out', async () => {
    const { tenantId } = await replicas.first.signUp();
    const bob = await replicas.first.register(tenantId);
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        changed(replicas.at(n), bob, { from: PASSWORD, to: next(n) }),
      ),
    );
    expect(tally(answers)).toEqual({ '200 ok': 1, '401 invalid_credentials': 5 });
    const won = answers.findIndex(({ status }) => status === 200);
    expect((await replicas.second.logIn(bob, next(won))).status).toBe(200);
  });
});
