import { describe, expect, it } from 'vitest';
import { mailText } from './mail-text.ts';

describe('the text of a mail', () => {
  it('says the same in plain text and in HTML', () => {
    const { subject, text, html } = mailText('Confirm', [
      'Hello,',
      { label: 'Follow', link: 'https://app.example/verify#token=a' },
    ]);
    expect(subject).toBe('Confirm');
    expect(text).toBe('Hello,\n\nFollow: https://app.example/verify#token=a\n');
    expect(html).toContain('<p>Hello,</p>');
    expect(html).toContain('<p><a href="https://app.example/verify#token=a">Follow</a></p>');
  });

  it('shows a code beside its label', () => {
    const { text, html } = mailText('Code', [{ label: 'Your code', code: '<1>' }]);
    expect(text).toBe('Your code: <1>\n');
    expect(html).toContain('<p>Your code: <b>&#60;1&#62;</b></p>');
  });

  it('gives what people wrote no power: no header, no tag, no attribute', () => {
    const { subject, html } = mailText('a\r\nBcc: x@example.com', [
      '<script>alert(1)</script>',
      { label: '<b>', link: 'https://x.example/"onclick="' },
    ]);
    expect(subject).toBe('a Bcc: x@example.com');
    expect(html).not.toMatch(/<script>|<b>|"onclick/);
  });
});
