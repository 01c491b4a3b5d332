import { describe, expect, it } from 'vitest';
import { languageOf } from './reader-language.ts';

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
