import { describe, expect, it } from 'vitest';
import { escapeHtml, untrustedText } from './mail-text.ts';

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
