import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clientAddress, trustedProxies } from './context/client-address.ts';
import { inOrder } from './contract/route-order.ts';
import { readQuery } from './input/query.ts';
import { printToken, readTokens } from './pipeline/consistency.ts';
import { isOddPath } from './pipeline/odd-path.ts';

describe('a consistency token', () => {
  it('F3 says the position that it was made of', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), (position) => {
        expect(readTokens(printToken('authz', position), 'authz')).toBe(position);
      }),
      { numRuns: 2_000 },
    );
  });
  it.each([
    ['authz-7, vault-9,authz-12', 12n],
    ['vault-9', undefined],
    ['', 'malformed'],
    ['authz', 'malformed'],
    ['authz-07', 'malformed'],
    ['authz--7', 'malformed'],
    ['authz-9223372036854775808', 'malformed'],
    ['authz-7,', 'malformed'],
    [Array(17).fill('authz-1').join(), 'malformed'],
  ])('reads %j', (header, wanted) => {
    expect(readTokens(header, 'authz')).toBe(wanted);
  });
  it('F3 never throws', () => {
    fc.assert(
      fc.property(fc.string(), (text) => void readTokens(text, 'authz')),
      { numRuns: 2_000 },
    );
  });
});

describe('a query', () => {
  it('F3 says what was put into it', () => {
    const text = fc
      .string({ unit: 'grapheme', maxLength: 20 })
      .filter((part) => !part.includes('\0'));
    fc.assert(
      fc.property(fc.dictionary(text, text, { maxKeys: 5 }), (values) => {
        const search = new URLSearchParams(values).toString();
        expect({ ...(readQuery(search) as { values: object }).values }).toEqual({ ...values });
      }),
      { numRuns: 2_000 },
    );
  });
  it.each([
    ['a=1&a=2', 'repeated_parameter'],
    ['a=1&%61=2', 'repeated_parameter'],
    ['a=%', 'encoding'],
    ['a=%ff', 'encoding'],
    ['a=%00', 'nul'],
    ['%00=a', 'nul'],
    ['x&'.repeat(65), 'too_many_parameters'],
  ])('is refused: %.20s', (search, rule) => {
    expect(readQuery(search)).toEqual({ fault: { field: 'query', rule } });
  });
  it('keeps names that every object inherits', () => {
    expect(readQuery('__proto__=x&toString=y')).toHaveProperty('values.toString', 'y');
  });
});

describe('the address of a client', () => {
  const none = trustedProxies([]);
  const proxies = trustedProxies(['10.0.0.0/8', 'fd00::/8']);
  it.each([
    {
      name: 'the socket, when nobody is trusted',
      remote: '203.0.113.9',
      forwarded: '1.2.3.4',
      trusted: none,
      wanted: '203.0.113.9',
    },
    {
      name: 'the socket, when it is no proxy of ours',
      remote: '203.0.113.9',
      forwarded: '1.2.3.4',
      trusted: proxies,
      wanted: '203.0.113.9',
    },
    {
      name: 'what our proxy saw',
      remote: '10.0.0.1',
      forwarded: '1.2.3.4',
      trusted: proxies,
      wanted: '1.2.3.4',
    },
    {
      name: 'what our proxy saw, not what the client claims',
      remote: '10.0.0.1',
      forwarded: '8.8.8.8, 1.2.3.4',
      trusted: proxies,
      wanted: '1.2.3.4',
    },
    {
      name: 'behind two proxies of ours',
      remote: '10.0.0.1',
      forwarded: '9.9.9.9, 1.2.3.4, 10.0.0.2',
      trusted: proxies,
      wanted: '1.2.3.4',
    },
    {
      name: 'the last one that can be read',
      remote: '10.0.0.1',
      forwarded: '1.2.3.4, unknown',
      trusted: proxies,
      wanted: '10.0.0.1',
    },
    ...[
      ['an address with a port', '1.2.3.4:47011', '1.2.3.4'],
      ['an address in brackets with a port', '[2001:db8::1]:47011', '2001:db8::1'],
      ['an address in brackets', '[2001:db8::1]', '2001:db8::1'],
      ['a bare address with many colons', '2001:db8::1', '2001:db8::1'],
      ['a proxy of ours with a port', '1.2.3.4, 10.0.0.2:8080', '1.2.3.4'],
      ['no brackets around an IPv4 address', '[1.2.3.4]:80', '10.0.0.1'],
      ['no port of letters', '1.2.3.4:http', '10.0.0.1'],
    ].map(([name = '', forwarded = '', wanted = '']) => ({
      name,
      remote: '10.0.0.1',
      forwarded,
      trusted: proxies,
      wanted,
    })),
    {
      name: 'v4 in v6 clothes',
      remote: '::ffff:10.0.0.1',
      forwarded: '1.2.3.4',
      trusted: proxies,
      wanted: '1.2.3.4',
    },
    {
      name: 'v6',
      remote: 'fd00::1',
      forwarded: '2001:DB8::1',
      trusted: proxies,
      wanted: '2001:db8::1',
    },
    {
      name: 'the proxy, when it names nobody',
      remote: '10.0.0.1',
      forwarded: undefined,
      trusted: proxies,
      wanted: '10.0.0.1',
    },
    {
      name: 'never 127.1',
      remote: '10.0.0.1',
      forwarded: '127.1',
      trusted: proxies,
      wanted: '10.0.0.1',
    },
  ])('is $name', ({ remote, forwarded, trusted, wanted }) => {
    expect(clientAddress(remote, forwarded, trusted)).toBe(wanted);
  });
});

describe('a path', () => {
  it.each([
    ...[
      '//x',
      '/a//b',
      '/a/./b',
      '/a/../b',
      '/..',
      '/a/.',
      '/a;b',
      '/a\\b',
      '/a/',
      '/%2e%2e/x',
      '/a%2Fb',
    ],
    ...['/a%5cb', '/a%00', '/a#b', 'http://x/', '*', '', '/é'],
  ])('O5 is none of ours: %s', (path) => {
    expect(isOddPath(path)).toBe(true);
  });
  it.each(['/', '/a', '/.well-known/jwks.json', '/a..b', '/a%20b', '/a/%c3%a9'])(
    'may be %s',
    (path) => {
      expect(isOddPath(path)).toBe(false);
    },
  );
});

describe('routes', () => {
  it('are tried with words before parameters', () => {
    const paths = [
      '/w/{id}',
      '/w/{id}/test',
      '/w',
      '/w/deliveries',
      '/w/deliveries/{id}/retry',
      '/a/{x}',
    ];
    const ordered = inOrder(paths.map((path) => ({ contract: { path } })));
    expect(ordered.map(({ contract }) => contract.path)).toEqual([
      ...['/a/{x}', '/w', '/w/deliveries', '/w/deliveries/{id}/retry', '/w/{id}', '/w/{id}/test'],
    ]);
  });
});
