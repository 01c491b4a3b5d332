import { domainToASCII } from 'node:url';
import { describe, expect, it } from 'vitest';
import { emailAddress } from './email-address.ts';

const address = (input: string) => emailAddress(input, domainToASCII);

describe('an e-mail address [identity-19]', () => {
  it.each([
    ['Ann@Example.COM', 'ann@example.com'],
    ['zoe\u0308@exämple.com', 'zoë@xn--exmple-cua.com'],
    ['a+b.c@sub.example.com', 'a+b.c@sub.example.com'],
    ['ann@localhost', 'ann@localhost'],
    ['ann@1.example', 'ann@1.example'],
    ['ann@xn--exmple-cua.com', 'ann@xn--exmple-cua.com'],
    ['ann@example\u3002com', 'ann@example.com'],
    ['अ@क्षि.com', 'अ@xn--11b2eya8c.com'],
    [" o'neil!#$%&*+/=?^_`{|}~@example.com", "o'neil!#$%&*+/=?^_`{|}~@example.com"],
  ])('is kept in one form: %s', (input, kept) => {
    expect(address(input)).toBe(kept);
    expect(address(kept)).toBe(kept);
  });

  it.each([
    ' ann@example.com',
    'ann@example.com ',
    '\t\n ann@example.com \r\n',
    '\u00a0ann@example.com\u3000',
    'ann@example.com.',
    ' ann@example.com. ',
    'ann@example.com\u3002',
  ])('is the same with what a keyboard puts around it: %j', (input) => {
    expect(address(input)).toBe('ann@example.com');
  });

  it.each([
    '',
    'ann',
    '@example.com',
    'ann@',
    'ann@.',
    'ann@example@com',
    'an n@example.com',
    'ann@exa mple.com',
    'ann\u0000@example.com',
    'ann\r\nBcc: x@example.com',
    'ann@exa<b>mple.com',
    'ann@example.com..',
    'ann@.example.com',
    'ann@exam..ple.com',
    'ann@-example.com',
    'ann@example-.com',
    'ann@exa_mple.com',
    `ann@${'a'.repeat(64)}.com`,
    `${'a'.repeat(250)}@example.com`,
  ])('is none: %j', (input) => {
    expect(address(input)).toBeUndefined();
  });

  // A URL parser turns each of these domains into another host name.
  it.each([
    'ann@example.com/..',
    'ann@example.com/x',
    'ann@example.com?x',
    'ann@example.com#z',
    'ann@example.com:25',
    'ann@ex%61mple.com',
    'ann@example.com%2f',
    'ann@x\\example.com',
    'ann@½.com',
    'ann@\u2100.com',
    'ann@127.0.0.1',
    'ann@127.1',
    'ann@12345',
    'ann@0x7f',
    'ann@example.0x7f',
    'ann@\uff11\uff12\uff17.1',
  ])('is never made of a domain that is no host name: %j', (input) => {
    expect(address(input)).toBeUndefined();
  });
});
