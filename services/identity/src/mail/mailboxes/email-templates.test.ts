import { LANGUAGES } from '@cardea/mail';
import { describe, expect, it } from 'vitest';
import { emailTemplate } from './email-templates.ts';
import { MAIL_TEXTS } from './email-texts.ts';

const at = '2026-01-01T10:00:00.000Z';
const of = {
  ...{ to: 'ann@example.com', link: null, code: null, details: {} },
  ...{ requestedAt: at, expiresAt: '2026-01-02T10:00:00.000Z' },
  brand: { name: 'Ann & Co\r\nBcc: x@example.com' },
  language: 'en' as const,
};
const FROM = 'This mail comes from Ann & Co Bcc: x@example.com.';
const PASTE = 'If the page asks for the link, paste this code there';
const paragraphs = ({ text }: { readonly text: string }) => text.trimEnd().split('\n\n');

describe('the words of a mail', () => {
  it('name the link, and who it comes from, on one line', () => {
    const link = 'https://app.example/verify-email#token=a';
    const mail = emailTemplate('verify', { ...of, link });
    expect(mail.subject).toBe('Confirm your e-mail address');
    expect(paragraphs(mail)).toEqual([
      'Ann & Co Bcc: x@example.com',
      'Confirm your e-mail address',
      'An account was made with this address. Please confirm that it is yours.',
      'Address: ann@example.com\nValid until: 2026-01-02 10:00 UTC',
      `Confirm the address: ${link}`,
      `${PASTE}: a`,
      'The link works once. If you did not ask for it, do nothing.',
      FROM,
    ]);
  });

  it('show a code to be typed', () => {
    const { text, html } = emailTemplate('otp', { ...of, code: 'ABCD-EFGH' });
    expect(text).toContain('\n\nYour code: ABCD-EFGH\n\n');
    expect(html).toContain('>ABCD-EFGH</b>');
  });

  it('name the link and the code of a registration', () => {
    const link = 'https://id.example/oauth2/interaction/uid/verify-email#token=a';
    const { text } = emailTemplate('verify', { ...of, link, code: 'ABCD-EFGH' });
    expect(text).toContain(`Confirm the address: ${link}`);
    expect(text).toContain('Or type this code at the page where you asked for this mail');
    expect(text).toContain(': ABCD-EFGH');
  });

  it('of strangers are plain text of 60 characters', () => {
    const name = `Bank\u202e \r\n https://evil.example/login?${'x'.repeat(100)}`;
    const inviting = { organization: name, inviter: name };
    const { text } = emailTemplate('invitation', { ...of, brand: { name }, inviting });
    for (const label of ['This mail comes from', 'Organization:', 'Invited by:']) {
      const [, words = ''] = new RegExp(`^${label} (.*?)\\.?$`, 'm').exec(text) ?? [];
      expect(words, label).toMatch(/^Bank evil\.example\/login\?x+…$/);
      expect([...words]).toHaveLength(60);
    }
  });

  it('ask for nothing in a notice', () => {
    const mail = emailTemplate('notice', of);
    expect(paragraphs(mail)).toHaveLength(6);
    expect(mail.html).not.toContain('<a ');
  });

  it('tell of a sign-in when it was, and by what and where as far as that is known', () => {
    const details = { at, browser: 'Firefox', os: '', city: null, country: 'DE' };
    expect(paragraphs(emailTemplate('new_device', { ...of, details }))).toContain(
      'Address: ann@example.com\nTime: 2026-01-01 10:00 UTC\nDevice: Firefox\nPlace: DE',
    );
  });
});

describe('the texts of mails', () => {
  const wordsOf = ({ of: all, facts, ...more }: (typeof MAIL_TEXTS)['en']) =>
    Object.entries(all).flatMap(([purpose, words]) => [
      ...Object.entries({ ...more, ...facts }),
      ...Object.entries(words).map(([name, text]) => [`${purpose}.${name}`, text] as const),
    ]);

  it('are there in German where they are in English, and are German', () => {
    const [english, german] = [wordsOf(MAIL_TEXTS.en), wordsOf(MAIL_TEXTS.de)];
    expect(german.map(([name]) => name)).toEqual(english.map(([name]) => name));
    for (const [at, [name, text]] of german.entries()) {
      const other = english[at]?.[1];
      expect(text === '', name).toBe(other === '');
      if (text !== '') expect(text, name).not.toBe(other);
    }
  });

  it.each(LANGUAGES)('in %s fill in what is asked for, and name their language', (language) => {
    const name = 'Müller {tenant} $& Co';
    const { text, html } = emailTemplate('otp', {
      ...{ ...of, code: 'ABCD-EFGH', brand: { name }, language },
    });
    expect(text).toContain('ABCD-EFGH');
    expect(text).toContain(name);
    expect(html).toContain(`<html lang="${language}">`);
  });
});
