/** Tests that each event that a service declares is appended by its code and published by its relay. */
import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  approvalEvents,
  auditEvents,
  authzEvents,
  identityEvents,
  vaultEvents,
  webhooksEvents,
} from '@cardea/contracts';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const FOLDERS = {
  approval: approvalEvents,
  'audit-projector': auditEvents,
  authz: authzEvents,
  identity: identityEvents,
  vault: vaultEvents,
  'webhook-dispatcher': webhooksEvents,
};

const sourcesOf = (folder: string) =>
  globSync(`${folder}/src/**/*.ts`, { cwd: root })
    .filter((path) => !path.includes('.test.'))
    .map((path) => ({ path, text: readFileSync(resolve(root, path), 'utf8') }));
/** Code for the events that all services publish in the same form. */
const SHARED = sourcesOf('packages/service');

describe.each(Object.entries(FOLDERS))('what %s announces', (folder, { types }) => {
  const sources = [...sourcesOf(`services/${folder}`), ...SHARED];
  const isRelay = ({ path }: { readonly path: string }) => /relay[^/]*\.ts$/.test(path);
  const relays = [...sources.filter(isRelay), ...SHARED];

  it.each(types)('%s is published by a relay', (type) => {
    expect(relays.some(({ text }) => text.includes(`'${type}'`))).toBe(true);
  });

  it('is something that is appended, event by event that a relay publishes', () => {
    const published = relays.flatMap(({ text }) =>
      [...text.matchAll(/^ {2}([A-Z]\w+): (?!ignored)/gm)].map(([, name = '']) => name),
    );
    expect(published.length).toBeGreaterThan(0);
    const rest = sources.filter((each) => !isRelay(each));
    // Declarations in the union, handlers and lists of ignored events do not count.
    const texts = rest.map(({ text }) => text.replaceAll(/readonly type:[^;{]*/g, ''));
    const appended = (name: string) =>
      texts.some((text) => new RegExp(`(?:type: |[?:] )'${name}'(?! &&|\\))`).test(text));
    expect(published.filter((name) => !appended(name))).toEqual([]);
  });
});
