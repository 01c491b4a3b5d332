import { describe, expect, it } from 'vitest';
import { LANGUAGES } from '../../pages/texts.ts';
import { emailTemplate } from './email-templates.ts';
import { MAIL_TEXTS } from './email-texts.ts';

const language = 'en';
const tenantName = 'Ann & Co\r\nBcc: x@example.com';
const FROM = 'This mail comes from Ann & Co Bcc: x@example.com.';

describe('the words of a mail', () => {
  it('name the link, and who it comes from, on one line', () => {
    const link = 'https://app.example/verify-email#token=a';
    const { subject, text, html } = emailTemplate('verify', {
      link,
      code: null,
      tenantName,
      language,
    });
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
    const { text, html } = emailTemplate('otp', {
      link: null,
      code: 'ABCD-EFGH',
      tenantName,
      language,
    });
    expect(text).toContain('\n\nYour code: ABCD-EFGH\n\n');
    expect(html).toContain('<p>Your code: <b>ABCD-EFGH</b></p>');
  });

  it('ask for nothing in a notice', () => {
    const { text, html } = emailTemplate('notice', {
      link: null,
      code: null,
      tenantName,
      language,
    });
    expect(text.trimEnd().split('\n\n')).toHaveLength(4);
    expect(html).not.toContain('<a ');
  });
});

describe('the texts of mails', () => {
  const wordsOf = ({ of, ...more }: (typeof MAIL_TEXTS)['en']) =>
    Object.entries(of).flatMap(([purpose, words]) => [
      ...Object.entries(more),
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

  it.each(LANGUAGES)('in %s fill in what is asked for, and name their language', (of) => {
    const name = 'Müller {tenant} $& Co';
    const { text, html } = emailTemplate('otp', {
      ...{ link: null, code: 'ABCD-EFGH', tenantName: name, language: of },
    });
    expect(text).toContain('ABCD-EFGH');
    expect(text).toContain(name);
    expect(html).toContain(`<html lang="${of}">`);
  });
});
