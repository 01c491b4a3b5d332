import { describe, expect, it } from 'vitest';
import { badField } from '../http/answers.ts';
import { futureMoment } from './key-issuing.ts';

const NOW = new Date('2026-01-01T00:00:00Z');

describe('The end of a key', () => {
  it('lies ahead, and no further than any table can hold', () => {
    expect(futureMoment('2026-01-01T02:00:00+01:00', NOW)).toBe('2026-01-01T01:00:00.000Z');
    expect(futureMoment('9999-12-31T23:59:59-23:00', NOW)).toBe('9999-12-31T23:59:59.999Z');
    for (const text of ['2026-01-01T00:00:00Z', '2025-12-31T00:00:00Z', '2027-02-31T00:00:00Z']) {
      expect(futureMoment(text, NOW)).toBeUndefined();
    }
  });

  it('is named as the door names a field when it is wrong', () => {
    expect(badField('expires_at', 'future date-time').details[0].field).toBe('expires_at');
  });
});
