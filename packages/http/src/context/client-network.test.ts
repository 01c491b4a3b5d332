import { describe, expect, it } from 'vitest';
import { addressLimitKeys, networkOf } from './client-network.ts';

describe('what a limit by address counts by', () => {
  it.each(['192.0.2.7', '::ffff:192.0.2.7', '::ffff:c000:207'])(
    'is the IPv4 address, written as %s too',
    (ip) => {
      expect(addressLimitKeys(ip)).toEqual([{ key: '192.0.2.7', factor: 1 }]);
    },
  );

  it('is the /64 of an IPv6 address, and at eight times the limit its /48', () => {
    const keys = [
      { key: '20010db800010002/64', factor: 1 },
      { key: '20010db80001/48', factor: 8 },
    ];
    expect(addressLimitKeys('2001:db8:1:2::1')).toEqual(keys);
    expect(addressLimitKeys('2001:db8:1:2:ffff:ffff:ffff:ffff')).toEqual(keys);
    expect(addressLimitKeys('2001:db8:1:3::1')[0]).not.toEqual(keys[0]);
    expect(addressLimitKeys('2001:db8:1:3::1')[1]).toEqual(keys[1]);
    expect(addressLimitKeys('2001:db8:2:2::1')[1]).not.toEqual(keys[1]);
  });

  it('is one and the same for all that have no address', () => {
    expect(addressLimitKeys('')).toEqual(addressLimitKeys('no address'));
  });
});

describe('the network of a client', () => {
  it.each([
    ['192.0.2.7', '192.0.2.0/24'],
    ['::ffff:192.0.2.7', '192.0.2.0/24'],
    ['2001:db8:1:2::1', '20010db800010002/64'],
    ['', 'unknown'],
  ])('of "%s" is %s', (ip, network) => {
    expect(networkOf(ip)).toBe(network);
  });
});
