import { domainToASCII } from 'node:url';
import { describe, expect, it } from 'vitest';
import { emailAddress } from './email-address.ts';

const address = (input: string) => emailAddress(input, domainToASCII);

describe('an e-mail address', () => {
  it.each([
    ['Ann@Example.COM', 'ann@example.com'],
    ['zoe\u0308@exämple.com', 'zoë@xn--exmple-cua.com'],
    ['a+b.c@sub.example.com', 'a+b.c@sub.example.com'],
  ])('is kept in one form: %s', (input, kept) => {
    expect(address(input)).toBe(kept);
    expect(address(kept)).toBe(kept);
  });

  it.each([
    '',
    'ann',
    '@example.com',
    'ann@',
    'ann@example@com',
    'an n@example.com',
    'ann@exa mple.com',
    'ann\u0000@example.com',
    'ann\r\nBcc: x@example.com',
    'ann@exa<b>mple.com',
    `${'a'.repeat(250)}@example.com`,
  ])('is none: %j', (input) => {
    expect(address(input)).toBeUndefined();
  });
});
