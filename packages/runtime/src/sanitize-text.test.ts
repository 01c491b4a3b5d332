import { describe, expect, it } from 'vitest';
import { cleaned } from './sanitize-text.ts';

describe('words that people read', () => {
  it('approval 19 hide nothing, turn nothing around and break no line', () => {
    expect(cleaned('a\u202Eb\u200Bc\r\nd\u2028e\u0000')).toBe('abcde');
    expect(cleaned('e\u0301')).toBe('\u00E9');
  });
});
