import { describe, expect, it } from 'vitest';
import { instantOf } from './instant.ts';

describe('A moment in a query', () => {
  it.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02t03:04:05.123456789z', '2026-01-02T03:04:05.123Z'],
    ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05.000Z'],
    ['2026-01-02T03:04:05 02:00', '2026-01-02T01:04:05.000Z'],
    ['2024-02-29T00:00:00-00:30', '2024-02-29T00:30:00.000Z'],
  ])('%s is read', (text, read) => {
    expect(instantOf(text)?.toISOString()).toBe(read);
  });

  it.each([
    ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0001-01-01T00:00:00+23:00', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59-23:00', '9999-12-31T23:59:59.999Z'],
  ])('%s, which no database reads, becomes the edge of what they do', (text, edge) => {
    expect(instantOf(text)?.toISOString()).toBe(edge);
  });

  it.each([
    ...['', 'yesterday', '2026-01-02', '2026-01-02T03:04:05', '2026-02-31T00:00:00Z'],
    ...['2026-13-01T00:00:00Z', '2026-01-01T25:00:00Z', '2026-01-01T00:00:00+25:00', '1767225600'],
  ])('%j is none', (text) => {
    expect(instantOf(text)).toBeNull();
  });
});
