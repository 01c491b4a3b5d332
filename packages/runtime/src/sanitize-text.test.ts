import { describe, expect, it } from 'vitest';
import { cleaned, visible } from './sanitize-text.ts';

describe('words that people read', () => {
  it('approval 19 hide nothing, turn nothing around and break no line', () => {
    expect(cleaned('a\u202Eb\u200Bc\r\nd\u2028e\u0000')).toBe('abcde');
    expect(cleaned('e\u0301')).toBe('\u00E9');
  });

  it('approval 30 lose nothing where all of them have to be seen', () => {
    const hidden = [
      '\u0000',
      '\n',
      '\u200B',
      '\u202E',
      '\u2028',
      '\u00A0',
      '\u3164',
      '\uFE0F',
      '\u{E0041}',
    ];
    for (const character of hidden) {
      expect(visible(`a${character}b`)).toMatch(/^a\[U\+[0-9A-F]{4,5}\]b$/);
    }
    expect(visible('é ä 漢字 اب "\\ -')).toBe('é ä 漢字 اب "\\ -');
  });
});
