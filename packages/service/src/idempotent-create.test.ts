import { uuidFrom } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { newId, repeatAnswer, requestHash, reusedKey } from './idempotent-create.ts';

const ids = { next: () => 'fresh' };
const request = (bodyHash?: string) => ({
  tenantId: 't1',
  commandId: 'c1',
  idempotency: bodyHash === undefined ? undefined : { key: 'k', bodyHash },
});
const sealer = {
  indexHash: async (_scope: unknown, ...parts: readonly string[]) => `hash of ${parts.join(' ')}`,
};

describe('an id of what a request creates', () => {
  it('is fresh without an Idempotency-Key, and follows from it with one', () => {
    expect(newId({ ids }, request(), 'agent')).toBe('fresh');
    const derived = newId({ ids }, request('body'), 'agent');
    expect(derived).toBe(uuidFrom('resource', 'c1', 'agent'));
    expect(newId({ ids }, request('body'), 'agent')).toBe(derived);
    expect(newId({ ids }, request('body'), 'tenant')).not.toBe(derived);
  });

  it('is of webhooks and approval requests the one that it always was', () => {
    expect(newId({ ids }, request('body'), 'webhook')).toBe(uuidFrom('webhook', 'c1'));
    const ofApproval = newId({ ids }, request('body'), 'approval request');
    expect(ofApproval).toBe(uuidFrom('approval request', 'c1'));
  });
});

describe('a repeat of a request that creates', () => {
  it('is recognised by a keyed hash, which a request without a key has not', async () => {
    expect(await requestHash({ sealer }, request())).toBeNull();
    expect(await requestHash({ sealer }, request('b'))).toBe('hash of request body b');
    expect(await requestHash({ sealer }, request('b'), [])).toBe('hash of b');
  });

  it('gets what the first one made, unless that showed a secret', () => {
    expect(reusedKey('h', 'h')).toBeUndefined();
    const created = { refused: 'already_created', details: { id: 'x' } };
    expect(repeatAnswer('h', { id: 'x', requestHash: 'h' })).toEqual(created);
  });

  it('is none under another body', () => {
    const reused = { refused: 'idempotency_key_reused' };
    expect(reusedKey('h', 'g')).toEqual(reused);
    expect(repeatAnswer('h', { id: 'x', requestHash: null })).toEqual(reused);
    expect(repeatAnswer(null, { id: 'x', requestHash: null })).toEqual(reused);
  });
});
