import { describe, expect, it } from 'vitest';
import { Concurrency } from './concurrency.ts';

const of = (webhookId: string, origin: string, tenantId: string) => ({
  webhookId,
  origin,
  tenantId,
});

describe('the slots of a process', () => {
  it('gives an origin sixteen, and remembers whom it turned away until one is given back', () => {
    const slots = new Concurrency(256);
    const given = Array.from({ length: 16 }, (_, at) => slots.take(of('w', 'https://a', `t${at}`)));
    expect(given.every((give) => give !== undefined)).toBe(true);
    expect(slots.take(of('late', 'https://a', 't'))).toBeUndefined();
    expect(slots.skipped()).toEqual(['late']);
    expect(slots.take(of('other', 'https://b', 't'))).toBeDefined();
    given[0]?.();
    expect(slots.skipped()).toEqual([]);
    expect(slots.free).toBe(240);
  });

  it('gives a tenant a quarter of them', () => {
    const slots = new Concurrency(16);
    for (let at = 0; at < 4; at++) expect(slots.take(of('w', `https://${at}`, 't'))).toBeDefined();
    expect(slots.take(of('w', 'https://5', 't'))).toBeUndefined();
    expect(slots.take(of('w', 'https://5', 'another'))).toBeDefined();
  });
});
