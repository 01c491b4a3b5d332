import { describe, expect, it } from 'vitest';
import { pastedToken } from './link-page.ts';

const TOKEN = `01890000-0000-7000-8000-000000000000.${'Zm9vYmFy-_x'.repeat(4).slice(0, 43)}`;
const LINK = `https://app.example/verify-email#token=${TOKEN}`;

describe('what is pasted from a mail [identity-26]', () => {
  it.each([
    TOKEN,
    ` ${TOKEN}\r\n`,
    LINK,
    `<${LINK}>`,
    `"${LINK}"`,
    `\u201e${LINK}\u201c`,
    `${LINK}.`,
    `${LINK}> `,
    LINK.replace('#', '#\r\n '),
    `${TOKEN.slice(0, 40)} ${TOKEN.slice(40)}`,
    `token=${TOKEN}`,
    `Sign in: ${LINK}\r\n\r\nThe link works once.`,
    `https://app.example/verify-email?token=${TOKEN}&utm=1`,
    `https://safelinks.example/?url=${encodeURIComponent(LINK)}&data=05`,
  ])('is read as the secret of the link: %s', (text) => {
    expect(pastedToken(text)).toBe(TOKEN);
  });

  it('is left as it is where it holds no secret', () => {
    expect(pastedToken('https://app.example/%zz')).toBe('https://app.example/%zz');
    expect(pastedToken('')).toBe('');
  });
});
