import { describe, expect, it } from 'vitest';
import { detailsView } from './details-view.ts';

/** The text that a reader sees of the details. */
const textOf = (details: { readonly [name: string]: unknown }): string =>
  detailsView(details)
    .text.replaceAll(/<\/?(pre|bdi)[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

describe('the details of an action', () => {
  it('approval 30 have every member on a line of its own', () => {
    const details = { to: 'Ada', cents: 1_000, paid: false, memo: null, lines: [{}, [], 'a'] };
    expect(textOf(details)).toBe(`{
  "to": "Ada",
  "cents": 1000,
  "paid": false,
  "memo": null,
  "lines": [
    {},
    [],
    "a"
  ]
}`);
  });

  it('approval 30 name what cannot be seen, and no text ends itself or a line', () => {
    const details = {
      'to\u202E': 'a\nb\u0000\u200B\u2066\u{E0041}\u3164\u00A0\u2800',
      'to[U+202E]': '"\\u202e',
      to: 'x",\n  "cents": 1',
    };
    expect(textOf(details).split('\n')).toEqual([
      '{',
      '  "to[U+202E]": "a[U+000A]b[U+0000][U+200B][U+2066][U+E0041][U+3164][U+00A0][U+2800]",',
      '  "to[U+202E]": "\\"\\\\u202e",',
      '  "to": "x\\",[U+000A]  \\"cents\\": 1"',
      '}',
    ]);
  });

  it('approval 30 draw over no other line, and are no markup', () => {
    const marks = '\u0336'.repeat(40);
    expect(textOf({ a: `x${marks}` })).toContain(`x${'\u0336'.repeat(4)}[U+0336]`);
    const { text } = detailsView({ '<b>': '</pre><script>alert(1)</script>' });
    expect(text).not.toMatch(/<(b>|script)/);
    expect(text.match(/<\/pre>/g)).toHaveLength(1);
  });
});
