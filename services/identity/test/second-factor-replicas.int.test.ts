/** A second factor counts once, whichever replica verifies it. */
import { describe, expect, it } from 'vitest';
import { codeOf, mfaTokenOf, STEP_MS, VERIFY, withTotp } from './mfa-fixture.ts';
import { fromNetwork, identityReplicas, tally } from './replicas-fixture.ts';
import { softwareAuthenticator } from './software-authenticator.ts';

const replicas = identityReplicas();
const ATTEMPTS = 12;

async function enrolled() {
  const { first, second } = replicas;
  const boss = await first.signUp();
  const bob = await withTotp(first, await first.register(boss.tenantId));
  // Sets the clocks of both replicas to the same time.
  second.clock.move(first.clock.now().getTime() - second.clock.now().getTime());
  return bob;
}
const all = <T>(make: (call: number) => Promise<T>) =>
  Promise.all(Array.from({ length: ATTEMPTS }, (_, call) => make(call)));

describe('on two replicas', () => {
  it('identity 11 one code, shown for many sign-ins at once, completes one', async () => {
    const bob = await enrolled();
    const tokens: string[] = [];
    for (let login = 0; login < ATTEMPTS; login += 1) {
      tokens.push(await mfaTokenOf(replicas.at(login), bob));
    }
    for (const { clock } of [replicas.first, replicas.second]) clock.move(STEP_MS);
    const code = codeOf(bob.secret, replicas.first.clock.now());
    const answers = await all((call) =>
      replicas
        .at(call)
        .rest.post(
          VERIFY,
          { mfa_token: tokens[call], method: 'totp', code },
          { headers: fromNetwork(call) },
        ),
    );
    expect(tally(answers)).toEqual({ '200 ok': 1, '401 invalid_code': ATTEMPTS - 1 });
  });

  it('identity 11 one token with all recovery codes at once completes once', async () => {
    const bob = await enrolled();
    const token = await mfaTokenOf(replicas.first, bob);
    const answers = await Promise.all(
      bob.recoveryCodes.map((code, call) =>
        replicas
          .at(call)
          .rest.post(
            VERIFY,
            { mfa_token: token, method: 'recovery', code },
            { headers: fromNetwork(call) },
          ),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('identity 11 one answer of a passkey completes one sign-in', async () => {
    const { first } = replicas;
    const boss = await first.signUp();
    const key = softwareAuthenticator();
    const me = first.as(boss);
    const making = (await me.post('/api/v1/me/passkeys/options')).body;
    const made = { challenge_id: making.challenge_id, response: key.create(making.options) };
    expect((await me.post('/api/v1/me/passkeys', made)).status).toBe(201);
    const { tenantId: tenant } = boss;
    const path = '/api/v1/auth/passkeys';
    const { challenge_id, options } = (await first.rest.post(`${path}/options`, {}, { tenant }))
      .body;
    const response = key.get(options);
    const answers = await all((call) =>
      replicas
        .at(call)
        .rest.post(
          `${path}/verify`,
          { challenge_id, response },
          { tenant, headers: fromNetwork(call) },
        ),
    );
    expect(tally(answers)).toEqual({ '200 ok': 1, '410 challenge_expired': ATTEMPTS - 1 });
  });
});
