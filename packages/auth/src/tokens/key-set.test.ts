import { systemClock } from '@cardea/runtime';
import { expect, it } from 'vitest';
import { keySet } from './key-set.ts';
import { generateSigningKey, publicJwk } from './signing-key.ts';

it('finds a key however often changes of the keys are told while it is fetched', async () => {
  const { kid, privateKey } = generateSigningKey();
  let told = 0;
  const keys = keySet(async () => {
    if (told < 4) {
      told += 1;
      keys.drop();
    }
    return { keys: [publicJwk(privateKey)] };
  }, systemClock);
  expect(await keys.find(kid)).toBeDefined();
  expect(told).toBe(4);
});
