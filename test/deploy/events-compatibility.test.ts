/**
 * A change that would break a reader of published events is found, and allowed only if the changelog
 * declares it.
 */
import { readFileSync } from 'node:fs';
import type { Schema } from '@cardea/documents';
import { describe, expect, it } from 'vitest';
import { acceptedState, promised } from '../../scripts/events/accepted.ts';
import { productVersion } from '../../scripts/events/documents.ts';
import { schemaBreaks, unexplained } from '../../scripts/events/schema-breaks.ts';

const text: Schema = { type: 'string' };
const BEFORE = {
  type: 'object',
  required: ['id', 'kind', 'tags', 'inner'],
  properties: {
    id: text,
    kind: { type: 'string', enum: ['a', 'b'] },
    count: { type: 'integer', minimum: 1 },
    name: { type: ['string', 'null'] },
    tags: { type: 'array', items: text },
    inner: { type: 'object', required: ['x'], properties: { x: text } },
  },
} as const;
const with_ = (properties: { readonly [name: string]: Schema }): Schema => ({
  ...BEFORE,
  properties: { ...BEFORE.properties, ...properties },
});
const { count: _, ...WITHOUT_COUNT } = BEFORE.properties;

const found = (after: Schema): readonly string[] =>
  schemaBreaks({ event: BEFORE }, { event: after }).map(({ at, what }) => `${at} ${what}`);

describe('A published schema', () => {
  it.each<[string, Schema, string]>([
    ['loses a field', { ...BEFORE, properties: WITHOUT_COUNT }, '/count is gone'],
    [
      'asks for a field that there was not',
      { ...with_({ more: text }), required: [...BEFORE.required, 'more'] },
      '/more is new and required',
    ],
    [
      'asks for a field that could be missing',
      { ...BEFORE, required: [...BEFORE.required, 'count'] },
      '/count is required now',
    ],
    [
      'lets a field be missing',
      { ...BEFORE, required: ['kind', 'tags', 'inner'] },
      '/id may be missing now',
    ],
    ['forbids null', with_({ name: text }), '/name type null is gone'],
    ['lets a field be null', with_({ id: { type: ['string', 'null'] } }), '/id type null is new'],
    [
      'loses a value of a closed list',
      with_({ kind: { type: 'string', enum: ['a'] } }),
      '/kind value b is gone',
    ],
    [
      'gets a value in a closed list',
      with_({ kind: { type: 'string', enum: ['a', 'b', 'c'] } }),
      '/kind value c is new',
    ],
    [
      'closes a list that was open',
      with_({ id: { type: 'string', enum: ['a'] } }),
      '/id is narrowed to certain values',
    ],
    [
      'opens a list that was closed',
      with_({ kind: text }),
      '/kind is no longer one of certain values',
    ],
    [
      'gets a tighter limit',
      with_({ count: { type: 'integer', minimum: 2 } }),
      '/count has another minimum',
    ],
    ['gets a limit', with_({ id: { type: 'string', maxLength: 8 } }), '/id has another maxLength'],
    ['gets a form', with_({ id: { type: 'string', format: 'uuid' } }), '/id has another format'],
    [
      'changes within a list',
      with_({ tags: { type: 'array', items: { type: 'integer' } } }),
      '/tags/- type string is gone',
    ],
    [
      'changes within a field',
      with_({ inner: { type: 'object', required: [], properties: { x: text } } }),
      '/inner/x may be missing now',
    ],
  ])('that %s breaks readers', (_change, after, fault) => {
    expect(found(after)).toContain(fault);
  });

  it('that becomes another type says what is gone and what is new', () => {
    expect(found(with_({ count: text }))).toEqual([
      '/count type integer is gone',
      '/count type string is new',
      '/count has another minimum',
    ]);
  });

  it('that is gone altogether breaks readers', () => {
    expect(schemaBreaks({ event: BEFORE }, {})).toEqual([
      { subject: 'event', at: '', what: 'is gone' },
    ]);
  });

  it('may get optional fields and other words, and other events may be added', () => {
    const wider = { ...with_({ more: text }), description: 'Said better.' };
    const optional = with_({
      inner: { ...BEFORE.properties.inner, properties: { x: text, y: { type: 'integer' } } },
    });
    expect(found(wider)).toEqual([]);
    expect(found(optional)).toEqual([]);
    expect(schemaBreaks({ event: BEFORE }, { event: BEFORE, another: BEFORE })).toEqual([]);
  });

  it('of a topic that gets another number of partitions breaks readers', () => {
    const topics = (partitions: number) => ({ 'cardea.x.events.v1': { partitions } });
    expect(schemaBreaks(topics(12), topics(24))).toMatchObject([
      { what: 'has another partitions' },
    ]);
  });
});

describe('A break', () => {
  const breaks = [{ subject: 'identity/user.created@1', at: '/email', what: 'is gone' }];
  const changelog = (part: string, line: string): string =>
    `# Changelog\n\n## Unreleased\n\n### ${part}\n\n- ${line}\n\n## 0.1.0\n\n### Breaking\n\n- old\n`;

  it('is let through where the newest part of the changelog names it as breaking', () => {
    const named = changelog('Breaking', '`identity/user.created` no longer tells the address.');
    expect(unexplained(breaks, named)).toEqual([]);
    const versioned = changelog('Breaking', '`identity/user.created@1` ends.');
    expect(unexplained(breaks, versioned)).toEqual([]);
  });

  it.each([
    ['says nothing', '# Changelog\n'],
    ['has it under another heading', changelog('Changed', '`identity/user.created` is different.')],
    ['names another event', changelog('Breaking', '`identity/user.updated` is different.')],
    [
      'has owned up to it in an earlier release',
      changelog('Added', 'x').replace('- old', '- `identity/user.created`'),
    ],
  ])('is refused where the changelog %s', (_how, text_) => {
    expect(unexplained(breaks, text_)).toEqual(breaks);
  });
});

describe('What is published now', () => {
  it('breaks no reader of the last release, but for what the changelog owns up to', () => {
    const breaks = schemaBreaks(acceptedState().schemas, promised());
    expect(unexplained(breaks, readFileSync('CHANGELOG.md', 'utf8'))).toEqual([]);
  });

  it('is measured by the release that it will follow: `npm run events -- --accept` at each', () => {
    expect(acceptedState().release).toBe(productVersion());
  });

  it('would be refused without one of its fields', () => {
    const now = promised();
    const login = now['identity/user.login@1'];
    const { email: _email, ...others } = login?.properties ?? {};
    const without = { ...now, 'identity/user.login@1': { ...login, properties: others } };
    // The breaks that the changelog names concern other events.
    const breaks = schemaBreaks(acceptedState().schemas, without).filter(
      ({ subject }) => subject === 'identity/user.login@1',
    );
    expect(breaks).toEqual([{ subject: 'identity/user.login@1', at: '/email', what: 'is gone' }]);
  });
});
