import { LANGUAGES } from '@cardea/mail';
import { describe, expect, it } from 'vitest';
import { CATALOGUE } from './frame.ts';
import { EN, type OwnTextKey } from './texts-en.ts';

const KEYS = Object.keys(EN) as OwnTextKey[];
const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).toSorted();

describe('the catalogue of texts', () => {
  it.each(LANGUAGES)('has every text in %s, with the same values to fill in', (language) => {
    const texts = CATALOGUE[language];
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
});
