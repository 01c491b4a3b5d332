import { fakeClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { countedStreams } from '../../../test/counted-streams.ts';
import { argon2 } from '../../adapters/argon2.ts';
import { withImportedHashes } from '../../adapters/imported-hashes.ts';
import { hashPermits } from './hash-permits.ts';
import { passwords } from './passwords.ts';
import { signInFloor } from './sign-in-floor.ts';

const TENANT = 'acme';
const OWN_MS = 20;
const BCRYPT_MS = 700;
const BCRYPT = '$2b$14$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e';
const cost = withImportedHashes(argon2({ memoryKib: 64, time: 1 }));

/** Hashes take time by a clock that the test sets. `right` is the password of all of them. */
function replica(logs?: Parameters<typeof countedStreams>[0]) {
  const clock = fakeClock('2026-01-01T00:00:00Z');
  const { streams } = countedStreams(logs);
  const verified: string[] = [];
  const own = {
    ...cost,
    hash: async () => '$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNo',
    isOutdated: (phc: string) => phc.startsWith('$2') || phc.startsWith('$pbkdf2'),
    verify: async (phc: string, password: string) => {
      verified.push(phc);
      await clock.sleep(phc.startsWith('$pbkdf2') ? 0 : phc.startsWith('$2') ? BCRYPT_MS : OWN_MS);
      return password === 'right' && !phc.includes('.....');
    },
  };
  const permits = hashPermits(4, clock);
  const floor = signInFloor({
    ...{ streams, clock },
    systemCommand: (tenantId, ...idParts) => ({
      id: idParts.join(' '),
      now: clock.now(),
      metadata: { tenantId, actor: { type: 'system', id: 'test' } },
    }),
    verify: (tenantId, sample) => made.matches(sample, 'no password', tenantId),
  });
  const made = passwords({
    ...{ own, permits, floor },
    breached: async () => false,
    strengthOf: async () => 4,
  });
  /** The time in ms until the answer. */
  const timeOf = async (phc: string | null, password: string, tenantId = TENANT) => {
    const beganMs = clock.monotonicMs();
    let tookMs: number | undefined;
    void made.verify(phc, password, tenantId).then(() => {
      tookMs = clock.monotonicMs() - beganMs;
    });
    for (let step = 0; step < 1_000 && tookMs === undefined; step += 1) {
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
      await clock.advance(10);
    }
    return tookMs;
  };
  return { made, timeOf, verified };
}
const OURS = '$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNo';

describe('the time of a sign-in', () => {
  it('P8 is that of our own hash in a tenant that has no other', async () => {
    const { timeOf } = replica();
    expect(await timeOf(null, 'wrong')).toBe(await timeOf(OURS, 'wrong'));
    expect(await timeOf(OURS, 'right')).toBeLessThan(100);
  });

  it('P8 is that of the dearest hash for every account of the tenant, and for none', async () => {
    const { made, timeOf } = replica();
    await made.brought(TENANT, [BCRYPT]);
    // The first attempt also measures a sample.
    await timeOf(null, 'wrong');
    const times = [
      await timeOf(null, 'wrong'),
      await timeOf(OURS, 'wrong'),
      await timeOf(OURS, 'right'),
      await timeOf(BCRYPT, 'wrong'),
    ];
    expect(new Set(times).size).toBe(1);
    expect(times[0]).toBeGreaterThanOrEqual(BCRYPT_MS);
  });

  it('P8 hashes for an unknown address only what ours costs', async () => {
    const { made, timeOf, verified } = replica();
    await made.brought(TENANT, [BCRYPT]);
    await timeOf(null, 'wrong');
    verified.length = 0;
    await timeOf(null, 'wrong');
    expect(verified).toEqual([OURS]);
  });

  it('P8 is no shorter for a hash that costs less than ours', async () => {
    const { made, timeOf } = replica();
    const cheap = '$pbkdf2-sha1$i=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNo';
    await made.brought(TENANT, [cheap]);
    await timeOf(null, 'wrong');
    expect(await timeOf(cheap, 'wrong')).toBe(await timeOf(null, 'wrong'));
    expect(await timeOf(cheap, 'wrong')).toBe(await timeOf(OURS, 'wrong'));
  });

  it('P8 identity 20 is the same where a password is tried as it was typed too', async () => {
    const { made, timeOf, verified } = replica();
    await made.brought(TENANT, [BCRYPT]);
    await timeOf(null, 'wrong');
    verified.length = 0;
    const decomposed = 'cafe\u0301';
    const times = [
      await timeOf(BCRYPT, decomposed),
      await timeOf(OURS, decomposed),
      await timeOf(null, decomposed),
    ];
    expect(verified).toEqual([BCRYPT, BCRYPT, OURS, OURS]);
    expect(new Set(times).size).toBe(1);
    expect(times[0]).toBeLessThan(3 * BCRYPT_MS);
  });

  it('P8 is learnt from a hash that was brought before, at its first sign-in', async () => {
    const { timeOf } = replica();
    expect(await timeOf(null, 'wrong')).toBeLessThan(100);
    await timeOf(BCRYPT, 'wrong');
    expect(await timeOf(null, 'wrong')).toBeGreaterThanOrEqual(BCRYPT_MS);
  });

  it('P8 C1 is another tenant’s own', async () => {
    const { made, timeOf } = replica();
    await made.brought(TENANT, [BCRYPT]);
    expect(await timeOf(null, 'wrong', 'other')).toBeLessThan(100);
  });

  it('C7 is bounded by the ceiling of each hash that is brought', async () => {
    const { made } = replica();
    expect(made.readHash({ hash: BCRYPT })).toEqual({ phc: BCRYPT });
    expect(made.readHash({ hash: BCRYPT.replace('$14$', '$15$') })).toBe('too_dear');
  });
});
