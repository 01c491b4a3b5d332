import { describe, expect, it } from 'vitest';
import { hostInUrl, isLoopbackHost, reachableHost } from './loopback.ts';

describe('this machine', () => {
  it.each(['localhost', '127.0.0.1', '127.255.0.9', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'])(
    'is %s',
    (host) => expect(isLoopbackHost(host)).toBe(true),
  );
  it.each([
    '',
    '0.0.0.0',
    '::',
    '127.1',
    '10.0.0.1',
    'fe80::1%lo',
    '[::1]',
    'localhost.example.com',
  ])('is not %s', (host) => expect(isLoopbackHost(host)).toBe(false));
});

describe('a listener', () => {
  it.each([
    ['0.0.0.0', '127.0.0.1'],
    ['::', '[::1]'],
    ['::1', '[::1]'],
    ['10.0.0.1', '10.0.0.1'],
    ['localhost', 'localhost'],
  ])('at %s is reached at %s', (host, expected) =>
    expect(hostInUrl(reachableHost(host))).toBe(expected),
  );
});
