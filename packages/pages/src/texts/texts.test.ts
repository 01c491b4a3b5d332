import { LANGUAGES } from '@cardea/mail';
import { describe, expect, it } from 'vitest';
import { DE_FRAME, EN_FRAME } from './frame-texts.ts';
import { catalogue, sayIn, sayRefusalIn } from './texts.ts';

const TEXTS = catalogue({
  en: { hello: '{name} of {house}', 'refused.sold_out': 'There is none left.' },
  de: { hello: '{name} von {house}', 'refused.sold_out': 'Es ist keines mehr da.' },
});

describe('a catalogue', () => {
  it.each(LANGUAGES)('has the texts of its service and those of the frame in %s', (language) => {
    const say = sayIn(TEXTS, language);
    expect(say('hello', { name: 'Ada', house: 'Byron' })).toMatch(/^Ada (of|von) Byron$/);
    expect(say('error.prefix')).toBe(language === 'de' ? 'Fehler' : 'Error');
  });

  it('fills values in, and a value that looks like a placeholder stays as it is', () => {
    expect(sayIn(TEXTS, 'en')('hello', { name: '{house}', house: 'b' })).toBe('{house} of b');
  });

  it('has no text of the frame that both languages share', () => {
    const keys = Object.keys(EN_FRAME) as (keyof typeof EN_FRAME)[];
    expect(keys.filter((key) => EN_FRAME[key] === DE_FRAME[key])).toEqual([]);
  });
});

describe('a refusal', () => {
  it.each([
    ['sold_out', 'There is none left.'],
    ['unheard_of', 'That did not work.'],
    ['toString', 'That did not work.'],
  ])('%s has a text, if only a general one', (code, text) => {
    expect(sayRefusalIn(TEXTS, 'en')(code)).toContain(text);
  });
});

describe('what is said of a limit [people-12]', () => {
  it.each([
    ['too_many_attempts', '1', 'in 1 s.'],
    ['rate_limited', '60', 'in 60 s.'],
    ['rate_limited', '61', 'in 2 min.'],
    ['too_many_attempts', '7200', 'in 120 min.'],
    ['too_many_attempts', '86400', 'in 24 h.'],
    ['too_many_attempts', undefined, 'Try again later'],
    ['sold_out', '60', 'There is none left.'],
  ])('%s with Retry-After %s is %s', (code, retryAfter, text) => {
    expect(sayRefusalIn(TEXTS, 'en')(code, retryAfter)).toContain(text);
  });
});
