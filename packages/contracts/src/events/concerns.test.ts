import { expect, it } from 'vitest';
import { EVENT_CATALOGUE } from '../catalogue.ts';
import type { ServiceName } from '../envelope.ts';
import { LISTENS_TO } from './topic-readers.ts';

const declared = Object.values(EVENT_CATALOGUE).flatMap(({ source, declared }) =>
  Object.entries(
    declared as { readonly [type: string]: { readonly concerns: readonly ServiceName[] } },
  ).map(([type, { concerns }]) => ({ source, type, concerns })),
);

it.each(declared)('$source $type concerns services that read its topic', (event) => {
  expect(event.concerns.length).toBeGreaterThan(0);
  for (const reader of event.concerns) expect(LISTENS_TO[reader]).toContain(event.source);
});

it('an event names the audit log, which takes every event, only where it concerns nothing else', () => {
  const both = declared.filter(({ concerns }) => concerns.includes('audit') && concerns.length > 1);
  expect(both).toEqual([]);
});
