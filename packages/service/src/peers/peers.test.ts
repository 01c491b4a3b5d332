import { describe, expect, it } from 'vitest';
import { mergedOffers, type Offers, peersOf } from './peers.ts';

const answering = (kid: string): Offers => ({
  identity: { jwks: async () => ({ keys: [{ kid }] }) },
});

describe('a peer in the same process', () => {
  it('is the first who offers the call, also one that is built later', async () => {
    const offers: Offers[] = [{ approval: {} }];
    const peers = peersOf(offers);
    expect(() => peers.identity.jwks()).toThrow('no service offers jwks');
    offers.push(answering('one'), answering('two'));
    expect(await peers.identity.jwks()).toEqual({ keys: [{ kid: 'one' }] });
  });

  it('offers what its modules offer together', async () => {
    const facts = async () => ({ agent: null, session: null, user: null });
    const { identity, approval } = mergedOffers([
      answering('one'),
      undefined,
      { identity: { facts } },
    ]);
    expect(await identity?.jwks?.()).toEqual({ keys: [{ kid: 'one' }] });
    expect(identity?.facts).toBe(facts);
    expect(approval).toEqual({});
  });
});
