import { globSync, readFileSync } from 'node:fs';
import type { Settings } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { MEANINGS } from '../../scripts/settings/meanings.ts';
import { SERVICES } from './rules/rule.ts';

const textOf = (pattern: string): string =>
  globSync(pattern)
    .filter((path) => !path.endsWith('.test.ts'))
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
const found = (text: string, pattern: RegExp): readonly string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, name = '']) => name)),
];

describe.each(SERVICES)('the README of %s', (service) => {
  const readme = readFileSync(`services/${service}/README.md`, 'utf8');
  const source = textOf(`services/${service}/src/**/*.ts`);
  const isSaidToRead = (name: string): boolean =>
    MEANINGS[name as keyof Settings].readBy?.split(', ').includes(service) === true;

  it('names every table', () => {
    const tables = found(textOf(`services/${service}/migrations/*.ts`), /CREATE TABLE \w+\.(\w+)/g);
    expect(tables.filter((table) => !readme.includes(`\`${table}\``))).toEqual([]);
  });

  it('names every stream', () => {
    const nouns = found(source, /\b(?:noun|denialNoun): '(\w+)'/g);
    expect(nouns.filter((noun) => !readme.includes(`\`${noun}-`))).toEqual([]);
  });

  it('names the settings that the service reads, and no other', () => {
    const settings = Object.keys(MEANINGS);
    const named = found(readme, /`([A-Z][A-Z0-9_]+)`/g).filter((name) => settings.includes(name));
    const isRead = (name: string): boolean =>
      new RegExp(`\\b${name}\\b`).test(source) || isSaidToRead(name);
    expect(named.filter((name) => !isRead(name))).toEqual([]);
    expect(settings.filter((name) => isSaidToRead(name) && !named.includes(name))).toEqual([]);
  });
});
