import { describe, expect, it } from 'vitest';
import { CATALOGUE, LANGUAGES, languageOf, refusalKey, refusalText, sayIn } from './texts.ts';
import { EN, type TextKey } from './texts-en.ts';

const KEYS = Object.keys(EN) as TextKey[];
const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).toSorted();

describe('the catalogue of texts', () => {
  it.each(LANGUAGES)('has every text in %s, with the same values to fill in', (language) => {
    const texts = CATALOGUE[language];
    expect(Object.keys(texts).toSorted()).toEqual(KEYS.toSorted());
    for (const key of KEYS) {
      expect(texts[key].trim(), key).toBe(texts[key]);
      expect(texts[key], key).not.toBe('');
      expect(placeholders(texts[key]), key).toEqual(placeholders(EN[key]));
    }
  });

  it('says in German what is German', () => {
    const same = KEYS.filter((key) => CATALOGUE.de[key] === CATALOGUE.en[key]);
    expect(same).toEqual(['invitation.name']);
  });

  it('fills values in, and a value that looks like a placeholder stays as it is', () => {
    expect(sayIn('en')('consent.lead', { client: '{host} & Co', host: 'b' })).toContain(
      '{host} & Co asks',
    );
  });

  it('has a text for each refusal, if only a general one', () => {
    expect(refusalKey('invalid_code')).toBe('refused.invalid_code');
    expect(refusalKey('toString')).toBe('refused.other');
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
    ['invalid_code', '60', 'That code is not right'],
  ])('of %s with Retry-After %s is %s', (code, retryAfter, text) => {
    expect(refusalText(sayIn('en'), code, retryAfter)).toContain(text);
  });
});

const DE = { 'accept-language': 'de' };

describe('the language of a page', () => {
  it.each([
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['fr-FR, en;q=0.5, de;q=0.7', 'de'],
    ['de;q=0, en', 'en'],
    ['fr', undefined],
    ['*', undefined],
    ['', undefined],
    [undefined, undefined],
    ['DE', 'de'],
    ['de;q=abc, en;q=0.1', 'en'],
  ])('of Accept-Language %s is %s', (header, language) => {
    expect(languageOf({ 'accept-language': header })).toBe(language);
  });

  it('is the one that the application asks for, where there is a catalogue of it', () => {
    expect(languageOf(DE, 'fr en')).toBe('en');
    expect(languageOf(DE, 'fr')).toBe('de');
    expect(languageOf({ 'accept-language': 'en' }, ['de'])).toBe('en');
  });
});
