import { globSync, readFileSync } from 'node:fs';
import { SETTING_FORMS } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { MEANINGS } from '../../scripts/settings/meanings.ts';

/** The schema itself, which reads settings without using them. */
const SCHEMA = /packages\/runtime\/src\/(settings|read-settings)\.ts$/;
const COMMENTS = /\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm;
const TEXTS = /'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g;

/** The product's source code without its comments. */
const sources = globSync('{packages,services}/*/src/**/*.ts')
  .filter((path) => !path.endsWith('.test.ts') && !SCHEMA.test(path))
  .map((path) => readFileSync(path, 'utf8').replaceAll(COMMENTS, '').replaceAll(TEXTS, "''"));

describe('the settings', () => {
  it.each(SETTING_FORMS)('$name is read by somebody', ({ name }) => {
    const use = new RegExp(`\\b${name}\\b`);
    expect(sources.some((text) => use.test(text))).toBe(true);
  });

  it('are said to be read by somebody', () => {
    const readers = Object.values(MEANINGS).map(({ readBy = '' }) => readBy);
    expect(readers.filter((readBy) => /nobody/.test(readBy))).toEqual([]);
  });
});
