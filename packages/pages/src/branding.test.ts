import { CARD_COLORS, contrast, TEXT_CONTRAST_MIN } from '@cardea/mail';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { brandStyle, schemesOf } from './branding.ts';

const colors = fc
  .integer({ min: 0, max: 0xffffff })
  .map((number) => `#${number.toString(16).padStart(6, '0')}`);

describe('the colours of a tenant', () => {
  it('are read as WCAG measures them', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  });

  it('leave every text readable, whatever was chosen', () => {
    fc.assert(
      fc.property(colors, colors, (primary_color, background_color) => {
        const schemes = schemesOf({ primary_color, background_color });
        for (const name of ['light', 'dark'] as const) {
          const { page, pageText, brand, onBrand, link } = schemes[name];
          expect(contrast(pageText, page)).toBeGreaterThanOrEqual(TEXT_CONTRAST_MIN);
          expect(contrast(onBrand, brand)).toBeGreaterThanOrEqual(TEXT_CONTRAST_MIN);
          expect(contrast(link, CARD_COLORS[name])).toBeGreaterThanOrEqual(TEXT_CONTRAST_MIN);
        }
      }),
    );
  });

  it('stay as they are where they can be read', () => {
    const { light } = schemesOf({ primary_color: '#1a6b52', background_color: '#e8f0ec' });
    expect(light).toMatchObject({ brand: '#1a6b52', link: '#1a6b52', page: '#e8f0ec' });
  });

  it('come into the style sheet as colours alone', () => {
    const style = brandStyle({ primary_color: null, background_color: null });
    expect(style.replaceAll(/#[0-9a-f]{6}\b/g, '#')).not.toMatch(/["'<>\\/]/);
  });
});
