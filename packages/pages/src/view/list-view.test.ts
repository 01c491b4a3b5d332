import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { html } from '../markup.ts';
import { catalogue, sayIn } from '../texts/texts.ts';
import { type ListView, listView } from './list-view.ts';

const TEXTS = catalogue({
  en: { lamps: 'Lamps', colour: 'Colour' },
  de: { lamps: 'Lampen', colour: 'Farbe' },
});
type Key = 'lamps' | 'colour';

const query = Type.Object({
  colour: Type.Optional(Type.Enum(['red', 'green'])),
  since: Type.Optional(Type.String()),
});
const READ = {
  endpoint: { contract: { query } } as never,
  url: { colour: 'colour', since: 'since', offset: 'from', cursor: 'cursor' },
  preset: { limit: '2' },
};

function shown(of: Partial<ListView<Key, string>>, asked: { [name: string]: string } = {}): string {
  const context = {
    say: sayIn(TEXTS, 'en'),
    path: '/account/lamps',
    read: READ,
    query: asked,
    curl: html`<i>curl</i>`,
  };
  return listView<Key, string>(context, {
    read: 'lamps',
    caption: 'lamps',
    rows: [],
    columns: [{ label: 'colour', cell: (row) => row }],
    filters: [
      { name: 'colour', label: 'colour' },
      { name: 'since', label: 'lamps' },
    ],
    nothing: 'You have no lamp yet.',
    ...of,
  }).text;
}

describe('a list', () => {
  it('that is empty says what it is for; what no filter finds is another thing', () => {
    expect(shown({})).toContain('You have no lamp yet.');
    expect(shown({})).toContain('<i>curl</i>');
    const filtered = shown({}, { colour: 'red' });
    expect(filtered).toContain('Nothing is found');
    expect(filtered).toContain('href="/account/lamps">Clear filters');
    expect(filtered).not.toContain('You have no lamp yet.');
  });

  it('has filters of the schema: choices where there are a few', () => {
    const text = shown({ rows: ['<b>'] }, { colour: 'green', since: '"' });
    expect(text).toContain('<option value="green" selected>');
    expect(text).toContain('name="since" value="&quot;"');
    expect(text).toContain('&lt;b&gt;');
  });

  it('comes in pages by offset, up to where a filter finds more', () => {
    const rows = ['a', 'b'];
    const first = shown({ rows, total: 5 }, { colour: 'red' });
    expect(first).toContain('1 to 2 of 5');
    expect(first).toContain('href="/account/lamps?colour=red&amp;from=2"');
    expect(first).not.toContain('Before');
    const last = shown({ rows: ['e'], total: 5 }, { offset: '4' });
    expect(last).toContain('href="/account/lamps?from=2"');
    expect(last).not.toContain('Next');
    const deep = shown({ rows, total: 20_000 }, { offset: '9998' });
    expect(deep).toContain('narrow the filter');
    expect(deep).not.toContain('Next');
    expect(shown({ rows, total: 2 })).not.toContain('pager');
  });

  it('comes in pages by cursor', () => {
    const next = shown({ rows: ['a'], nextCursor: 'c2' }, { cursor: 'c1', colour: 'red' });
    expect(next).toContain('href="/account/lamps?cursor=c2&amp;colour=red"');
    expect(next).toContain('href="/account/lamps?colour=red">First page');
    expect(shown({ rows: ['a'], nextCursor: null })).not.toContain('href');
  });
});
