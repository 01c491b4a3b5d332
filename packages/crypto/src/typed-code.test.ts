import { describe, expect, it } from 'vitest';
import { readCrockford, typedCode } from './index.ts';

/** The digit zero of scripts in which people type numbers. */
const ZEROS = {
  ASCII: 0x30,
  'full-width': 0xff10,
  Arabic: 0x660,
  'Arabic of Persia': 0x6f0,
  Devanagari: 0x966,
  Bengali: 0x9e6,
  Tamil: 0xbe6,
  Thai: 0xe50,
  Lao: 0xed0,
  Myanmar: 0x1040,
  Khmer: 0x17e0,
  Mongolian: 0x1810,
  'mathematical bold': 0x1d7ce,
} as const;

describe('a code that was typed', () => {
  it.each(Object.entries(ZEROS))('has digits of any script: %s [identity-26]', (_, zero) => {
    const digits = Array.from({ length: 10 }, (_unused, at) => String.fromCodePoint(zero + at));
    expect(typedCode(digits.join(''))).toBe('0123456789');
  });

  it.each([
    ...['-', '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2212', '\ufe63', '\uff0d'],
    ...[' ', '\u00a0', '\u3000', '\t', '\u00ad', '\u200b', '\u200e', '\u200f', '\u2060'],
  ])('may have %j between its characters [identity-26]', (between) => {
    expect(readCrockford(`k7qf${between}3mxp${between}`)).toBe('K7QF3MXP');
  });

  it('may have full-width letters, and nothing that is no letter of a code [identity-26]', () => {
    expect(readCrockford('Ｋ７ｑｆ－３ＭＸＰ')).toBe('K7QF3MXP');
    for (const text of ['k7qf_3mxp', 'k7qf.3mxp', 'кuqf3mxp', '']) {
      expect(readCrockford(text)).toBeUndefined();
    }
  });

  it('is no code where it is too long to be one', () => {
    expect(typedCode('1'.repeat(129))).toBe('');
  });
});
