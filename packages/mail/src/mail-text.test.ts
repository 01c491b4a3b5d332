import { describe, expect, it } from 'vitest';
import { escapeHtml, spanText, untrustedText } from './mail-text.ts';

describe('a length of time', () => {
  it('is exact, in the largest unit that fits, in the language of the reader', () => {
    const texts = [90, 60, 900, 5_400, 3_600, 7_200, 86_400, 604_800];
    expect(texts.map((seconds) => spanText(seconds, 'en'))).toEqual([
      ...['90 seconds', '1 minute', '15 minutes', '90 minutes'],
      ...['1 hour', '2 hours', '1 day', '7 days'],
    ]);
    expect(texts.map((seconds) => spanText(seconds, 'de'))).toEqual([
      ...['90 Sekunden', '1 Minute', '15 Minuten', '90 Minuten'],
      ...['1 Stunde', '2 Stunden', '1 Tag', '7 Tage'],
    ]);
  });
});

describe('words of strangers', () => {
  it('are one line of 60 characters, without schemes and what nobody sees', () => {
    const words = untrustedText(`Bank\u202e \r\n https://evil.example/login?${'x'.repeat(100)}`);
    expect(words).toMatch(/^Bank evil\.example\/login\?x+…$/);
    expect([...words]).toHaveLength(60);
  });

  it('are no markup', () => {
    expect(escapeHtml(`<a href="x" title='y'>&`)).toBe(
      '&#60;a href=&#34;x&#34; title=&#39;y&#39;&#62;&#38;',
    );
  });
});
