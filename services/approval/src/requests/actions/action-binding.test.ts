import { describe, expect, it } from 'vitest';
import { action_binding, details, facts, wanted } from '../../../test/action-samples.ts';
import { actionBindingOf, isSameAction } from './action-binding.ts';
import { faultOfDetails } from './details.ts';

describe('what an action is bound to', () => {
  const isSame = (sent: Parameters<typeof isSameAction>[2]) =>
    isSameAction(facts, action_binding, sent);

  it('approval 30 is each of the three, and all that are sent have to be the same', () => {
    const { action_digest } = wanted;
    const { digest } = action_binding;
    expect(isSame({ action_digest })).toBe(true);
    expect(isSame({ details: { lines: [{ text: 'a' }], cents: 1_000, to: 'Ada' } })).toBe(true);
    expect(isSame({ digest })).toBe(true);
    expect(isSame({ digest, details, action_digest })).toBe(true);
    expect(isSame({ digest: digest.replace(/^./, '!') })).toBe(false);
    expect(isSame({ digest, action_digest: `${action_digest}0` })).toBe(false);
    for (const other of [
      { ...details, cents: 1_001 },
      { ...details, to: 'Adа' },
      { ...details, to: 'Ada\u200B' },
      { ...details, lines: [] },
      { ...details, more: null },
      {},
    ]) {
      expect(isSame({ digest, details: other }), JSON.stringify(other)).toBe(false);
    }
  });

  it('approval 30 is another one for any other question', () => {
    const digests = [
      facts,
      { ...facts, tenant_id: 't2' },
      { ...facts, agent_id: 'bot2' },
      { ...facts, user_id: 'bob' },
      { ...facts, action: 'refund' },
      { ...facts, resource: 'pay' },
    ].map((of) => actionBindingOf(of, wanted).digest);
    digests.push(actionBindingOf(facts, { details }).digest);
    digests.push(actionBindingOf(facts, { action_digest: wanted.action_digest }).digest);
    digests.push(actionBindingOf(facts, { ...wanted, details: {} }).digest);
    expect(new Set(digests).size).toBe(digests.length);
  });

  it('approval 30 is at most 16 KiB, 8 levels, 200 members, and numbers that keep their digits', () => {
    const text = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
    expect(faultOfDetails(text(16_384))).toBeUndefined();
    expect(faultOfDetails(text(16_385))).toBe('max_bytes');
    expect(faultOfDetails({ a: 'ä'.repeat(8_190) })).toBe('max_bytes');
    const deep = (levels: number): object => (levels === 1 ? {} : { a: deep(levels - 1) });
    expect(faultOfDetails({ ...deep(8) })).toBeUndefined();
    expect(faultOfDetails({ ...deep(9) })).toBe('depth');
    expect(faultOfDetails({ list: Array(199).fill(0) })).toBeUndefined();
    expect(faultOfDetails({ list: Array(200).fill(0) })).toBe('too_many_members');
    expect(faultOfDetails({ cents: 2 ** 53 - 1, rate: 0.1 })).toBeUndefined();
    expect(faultOfDetails({ cents: 2 ** 53 })).toBe('number_range');
  });
});
