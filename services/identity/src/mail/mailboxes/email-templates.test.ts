import { describe, expect, it } from 'vitest';
import { emailTemplate } from './email-templates.ts';

const tenantName = 'Ann & Co\r\nBcc: x@example.com';
const FROM = 'This mail comes from Ann & Co Bcc: x@example.com.';

describe('the words of a mail', () => {
  it('name the link, and who it comes from, on one line', () => {
    const link = 'https://app.example/verify-email#token=a';
    const { subject, text, html } = emailTemplate('verify', { link, code: null, tenantName });
    expect(subject).toBe('Confirm your e-mail address');
    expect(text.trimEnd().split('\n\n')).toEqual([
      'Hello,',
      'please confirm that this address is yours.',
      `Confirm the address: ${link}`,
      'The link works once, for 24 hours. If you did not ask for it, do nothing.',
      FROM,
    ]);
    expect(html).toContain(`<p><a href="${link}">Confirm the address</a></p>`);
  });

  it('show a code to be typed', () => {
    const { text, html } = emailTemplate('otp', { link: null, code: 'ABCD-EFGH', tenantName });
    expect(text).toContain('\n\nYour code: ABCD-EFGH\n\n');
    expect(html).toContain('<p>Your code: <b>ABCD-EFGH</b></p>');
  });

  it('ask for nothing in a notice', () => {
    const { text, html } = emailTemplate('notice', { link: null, code: null, tenantName });
    expect(text.trimEnd().split('\n\n')).toHaveLength(4);
    expect(html).not.toContain('<a ');
  });
});
