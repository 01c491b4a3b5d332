import { CARD_COLORS, contrast, TEXT_CONTRAST_MIN } from '@cardea/mail';
import { describe, expect, it } from 'vitest';
import { facts, table, tag } from './parts.ts';
import { STYLE } from './style.ts';
import { TONE_NAMES, TONES } from './tones.ts';

const EVIL = `"'><script>alert(1)</script>&`;
/** WCAG 2.2, 1.4.11. */
const EDGE_CONTRAST_MIN = 3;

describe('a tone', () => {
  it.each(
    TONE_NAMES.flatMap((tone) =>
      (['light', 'dark'] as const).map((scheme) => [tone, scheme] as const),
    ),
  )('is readable: %s, %s', (tone, scheme) => {
    const { ink, tint } = TONES[scheme][tone];
    expect(contrast(ink, tint)).toBeGreaterThanOrEqual(TEXT_CONTRAST_MIN);
    expect(contrast(ink, CARD_COLORS[scheme])).toBeGreaterThanOrEqual(EDGE_CONTRAST_MIN);
    expect(STYLE).toContain(`--${tone}:${ink};--${tone}-tint:${tint}`);
  });

  it('differs from the others by its shape and its word', () => {
    const shapes = new Set(TONE_NAMES.map((tone) => tag(tone, 'word').text.replace(tone, '')));
    expect(shapes.size).toBe(TONE_NAMES.length);
    expect(tag('good', 'active').text).toContain('active');
  });
});

describe('parts of a page', () => {
  it('escape what they show', () => {
    const shown = [
      tag('info', EVIL),
      facts([{ label: EVIL, value: EVIL }]),
      table({ caption: EVIL, columns: [{ label: EVIL }, { label: EVIL }], rows: [[EVIL, EVIL]] }),
    ];
    for (const { text } of shown) {
      expect(text).not.toContain('<script>');
      expect(text).not.toContain(`"'>`);
    }
  });

  it('name the column of each cell but the first, for a table that becomes cards', () => {
    const columns = [{ label: 'Name' }, { label: 'Age', isNumber: true }];
    const { text } = table({ caption: 'Users', columns, rows: [['Ada', '36']] });
    expect(text).toContain('<th role="rowheader" scope="row">Ada</th>');
    expect(text).toContain('<td role="cell" data-label="Age" class="number">36</td>');
  });
});
