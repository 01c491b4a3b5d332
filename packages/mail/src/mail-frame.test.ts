import { describe, expect, it } from 'vitest';
import { BRAND_COLOR, contrast, TEXT_CONTRAST_MIN } from './colors.ts';
import { framedMail, type MailContent } from './mail-frame.ts';

const content: MailContent = {
  subject: 'Confirm',
  why: 'An account was made.',
  facts: [
    ['Address', 'ann@example.com'],
    ['Place', ''],
  ],
  code: { label: 'Your code', code: 'ABCD-EFGH' },
  button: { label: 'Follow', link: 'https://app.example/verify#token=a' },
  paste: { label: 'Paste', code: 'a' },
  end: 'Otherwise do nothing.',
};
const brand = { name: 'Company', color: '#ffee00', support: 'help@example.com' };

describe('the frame of a mail', () => {
  it('says who, why, what, one button with its address, what to do, and whom to ask', () => {
    const { subject, text } = framedMail(content, brand);
    expect(subject).toBe('Confirm');
    expect(text).toBe(
      [
        ...['Company', 'Confirm', 'An account was made.', 'Address: ann@example.com'],
        ...['Follow: https://app.example/verify#token=a', 'Paste: a', 'Your code: ABCD-EFGH'],
        'Otherwise do nothing.',
        'This mail comes from Company.\nQuestions: help@example.com\n',
      ].join('\n\n'),
    );
  });

  it('has one button, and its address below as text', () => {
    const { html } = framedMail(content, brand);
    const links = [...html.matchAll(/<a [^>]*href="([^"]*)"[^>]*>([^<]*)<\/a>/g)];
    expect(links.map(([, href, label]) => [href, label])).toEqual([
      ['https://app.example/verify#token=a', 'Follow'],
      ['mailto:help@example.com', 'help@example.com'],
    ]);
    expect(html).toMatch(/>https:\/\/app\.example\/verify#token=a<\/span>/);
  });

  it('loads nothing from elsewhere and runs nothing', () => {
    const { html } = framedMail(content, brand);
    expect(html).not.toMatch(
      /<(img|script|link|iframe|object|form|input|base)\b|url\(|@import| on\w+=/i,
    );
  });

  it('says nothing of a sender that has no name', () => {
    const { text } = framedMail(content, { name: '' });
    expect(text).toMatch(/^Confirm\n\nAn account was made\./);
    expect(text).toMatch(/Otherwise do nothing\.\n$/);
  });

  it('gives what people wrote no power: no header, no tag, no attribute, no line', () => {
    const evil = `<script>alert(1)</script>"onclick="\r\nBcc: x@example.com`;
    const { subject, text, html } = framedMail(
      { ...content, subject: evil, facts: [['Name', evil]], code: { label: 'Code', code: '<b>' } },
      { name: evil, color: '#000000;}<script>', support: evil },
    );
    expect(subject).not.toMatch(/[\r\n]/);
    expect(text).not.toMatch(/^Bcc:/m);
    expect(html).not.toMatch(/<script|<b>|"onclick/);
    expect(html).toContain(BRAND_COLOR);
  });

  it.each(['#ffee00', '#000000', '#ffffff', '#777777', BRAND_COLOR])(
    'leaves the button readable in a brand of %s',
    (color) => {
      const { html } = framedMail(content, { name: 'Company', color });
      const [, style = ''] = /class="button"[^>]*style="([^"]*)"/.exec(html) ?? [];
      const [, ink = ''] = /(?:^|;)color:(#\w{6})/.exec(style) ?? [];
      const [, back = ''] = /;background:(#\w{6})/.exec(style) ?? [];
      expect(back).toBe(color);
      expect(contrast(ink, back)).toBeGreaterThanOrEqual(TEXT_CONTRAST_MIN);
    },
  );
});
