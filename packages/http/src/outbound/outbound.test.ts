import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { addressGuard } from './address-guard.ts';
import {
  type Dial,
  type Dialer,
  guardedConnector,
  type NameResolver,
} from './guarded-connector.ts';
import { outbound } from './outbound.ts';
import { validateUrl } from './target-url.ts';

const production = { env: 'production', allowedCidrs: [] } as const;
const development = { env: 'development', allowedCidrs: [] } as const;

const SPECIAL = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '127.0.0.1', '127.255.255.254'],
  ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.0.170', '192.0.2.1'],
  ...['192.31.196.1', '192.52.193.1', '192.88.99.1', '192.168.1.1', '192.175.48.1', '198.18.0.1'],
  ...[
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
  ],
  ...['::', '::1', '::ffff:10.0.0.1', '::ffff:7f00:1', '::ffff:169.254.169.254', '::8.8.8.8'],
  ...['64:ff9b::8.8.8.8', '64:ff9b:1::1', '100::1', '100:0:0:1::1', '2001::1', '2001:1::1'],
  ...['2001:2::1', '2001:3::1', '2001:10::1', '2001:20::1', '2001:db8::1', '2002:7f00:1::1'],
  ...['3fff::1', '4000::1', '5f00::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', 'fe80::1%eth0'],
  ...[
    'fec0::1',
    'ff02::1',
    '',
    'localhost',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '8.8.8.8 ',
    '8.8.8',
  ],
];
/** Metadata services of clouds, this host itself, its link, and the IPv6 forms of such IPv4 addresses. */
const NEVER = [
  ...['127.0.0.1', '169.254.169.254', '169.254.170.2', '::1', 'fe80::1'],
  ...['fd00:ec2::254', 'fd00:ec2::23', '100.100.100.200', '168.63.129.16', '192.0.0.192'],
  ...['::ffff:127.0.0.1', '::ffff:169.254.169.254', '::ffff:a83f:8110', '::ffff:100.100.100.200'],
  ...['64:ff9b::169.254.169.254', '64:ff9b::a83f:8110', '64:ff9b::100.100.100.200'],
  ...['64:ff9b::192.0.0.192', '64:ff9b::127.0.0.1', '64:ff9b:1::169.254.169.254'],
  ...['64:ff9b:1:a9fe:00a9:fe00::', '64:ff9b:1:00a9:00fe:a9fe::', '64:ff9b:1:0:00a9:fea9:fe00::'],
  ...['2002:a9fe:a9fe::1', '2002:a83f:8110::', '::169.254.169.254', '::ffff:0:169.254.169.254'],
];
const PUBLIC = [
  '8.8.8.8',
  '1.1.1.1',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '::ffff:8.8.8.8',
];

describe('the address guard', () => {
  const guard = addressGuard([]);
  it.each(SPECIAL)('S13 webhooks 14 refuses %j', (address) => {
    expect(guard.allows(address)).toBe(false);
  });
  it.each(PUBLIC)('S13 webhooks 14 lets %s pass', (address) => {
    expect(guard.allows(address)).toBe(true);
  });
  it('lets the operator open private ranges', () => {
    const wide = addressGuard(['10.0.0.0/8', '0.0.0.0/0', '::/0']);
    expect(['10.9.8.7', '192.168.1.1', 'fd00::1'].map(wide.allows)).toEqual([true, true, true]);
  });
  it.each(NEVER)('S13 webhooks 14 never allows %s, whatever the operator opens', (address) => {
    const all = ['0.0.0.0/0', '::/0', address.includes(':') ? `${address}/128` : `${address}/32`];
    for (const cidrs of [all, []]) expect(addressGuard(cidrs).allows(address)).toBe(false);
  });
  it('lets a neighbour of such an address pass where the operator opens its range', () => {
    const wide = addressGuard(['100.64.0.0/10', 'fd00::/8', '64:ff9b::/96']);
    const near = ['100.100.100.201', 'fd00:ec2:1::254', '64:ff9b::10.0.0.1', '168.63.129.17'];
    expect(near.map(wide.allows)).toEqual(near.map(() => true));
  });
});

describe('the URL of a target', () => {
  const refused: readonly (readonly [rule: string, url: string])[] = [
    ['syntax', ''],
    ['syntax', 'hooks.example.com'],
    ['syntax', '//hooks.example.com'],
    ['syntax', 'https://'],
    ['syntax', 'https://a b.example.com'],
    ['syntax', 'https://exam\nple.com'],
    ['syntax', 'https://example.com:99999'],
    ['syntax', 'https://1.2.3.4.5/'],
    ['length', `https://example.com/${'x'.repeat(2_030)}`],
    ['https', 'http://example.com'],
    ['https', 'http://localhost'],
    ['https', 'ftp://example.com'],
    ['https', 'javascript:alert(1)'],
    ['userinfo', 'https://user@example.com'],
    ['userinfo', 'https://user:pw@example.com'],
    ['userinfo', 'https://@example.com'],
    ['userinfo', 'https:\\\\x@example.com'],
    ['fragment', 'https://example.com/#x'],
    ['fragment', 'https://example.com/#'],
    ['host', 'https://localhost'],
    ['host', 'https://LOCALHOST.'],
    ['host', 'https://a.localhost'],
    ['host', 'https://printer.local'],
    ['host', 'https://nas.home.arpa'],
    ['host', 'https://db.internal'],
    ['host', 'https://intranet'],
    ['host', 'https://example..com'],
    ['private_address', 'https://127.0.0.1'],
    ['private_address', 'https://127.1'],
    ['private_address', 'https://2130706433'],
    ['private_address', 'https://0x7f000001'],
    ['private_address', 'https://0177.0.0.1'],
    ['private_address', 'https://127.0.0.1.'],
    ['private_address', 'https://１２７．０．０．１'],
    ['private_address', 'https://[::1]'],
    ['private_address', 'https://[::ffff:10.0.0.1]'],
    ['private_address', 'https://10.0.0.1:8443/x'],
    ['private_address', 'https://169.254.169.254/latest'],
    ['private_address', 'https://[fd00:ec2::254]'],
  ];
  it.each(refused)('S13 webhooks 15 is refused by the rule %s: %s', (rule, url) => {
    expect(validateUrl(url, production)).toEqual({ rule });
    expect(validateUrl(url, { ...production, env: undefined })).toEqual({ rule });
  });
  it.each([
    'https://example.com',
    'https://hooks.example.com:8443/in?x=1',
    'https://8.8.8.8/x',
    'https://[2001:4860:4860::8888]/x',
    'https://example.com./x',
  ])('may be %s', (url) => {
    expect(validateUrl(url, production)).toHaveProperty('url');
  });
  it.each([
    'http://localhost:9999/x',
    'http://127.0.0.1:1/',
    'http://127.9.9.9',
    'https://[::1]:3/',
    'http://127.1',
  ])('webhooks 15 may be %s in development', (url) => {
    expect(validateUrl(url, development)).toHaveProperty('url');
  });
  it.each([
    ['https', 'http://example.com'],
    ['https', 'http://a.localhost'],
    ['https', 'http://10.0.0.1'],
    ['private_address', 'https://10.0.0.1'],
    ['private_address', 'https://169.254.169.254'],
    ['host', 'https://a.localhost'],
  ])('webhooks 15 stays refused in development by the rule %s: %s', (rule, url) => {
    expect(validateUrl(url, development)).toEqual({ rule });
  });
  it('may be a name without a dot where the operator opened ranges', () => {
    const own = { ...production, allowedCidrs: ['10.0.0.0/8'] };
    expect(validateUrl('https://receiver/x', own)).toHaveProperty('url');
    for (const name of ['db.internal', 'receiver.ns.svc', 'receiver.ns.svc.cluster.local']) {
      expect(validateUrl(`https://${name}/x`, own)).toHaveProperty('url');
      expect(validateUrl(`https://${name}./x`, production)).toEqual(
        name === 'receiver.ns.svc' ? { url: expect.any(URL) } : { rule: 'host' },
      );
    }
    expect(validateUrl('https://a.localhost/x', own)).toEqual({ rule: 'host' });
    expect(validateUrl('https://10.0.0.1/x', own)).toHaveProperty('url');
    expect(validateUrl('https://localhost/x', own)).toEqual({ rule: 'host' });
    expect(validateUrl('http://receiver/x', own)).toEqual({ rule: 'https' });
  });
});

type Recorder = { readonly dials: Dial[]; readonly asked: string[] };

function recording(answers: readonly (readonly string[])[], landsOn?: string) {
  const recorder: Recorder = { dials: [], asked: [] };
  const dialer: Dialer = async (dial) => {
    recorder.dials.push(dial);
    const socket = new EventEmitter() as unknown as { remoteAddress: string; destroy(): void };
    socket.remoteAddress = landsOn ?? dial.address;
    socket.destroy = () => {};
    return socket as unknown as Socket;
  };
  const resolver: NameResolver = async (name) => {
    recorder.asked.push(name);
    return answers[Math.min(recorder.asked.length, answers.length) - 1] ?? [];
  };
  return { recorder, dialer, resolver };
}

/** The result of connecting to one host: the socket's address, or the fault. */
function connecting(
  hostname: string,
  fixture: ReturnType<typeof recording>,
  env: 'development' | 'production' = 'production',
) {
  const connector = guardedConnector({
    guard: addressGuard([]),
    development: env === 'development',
    resolver: fixture.resolver,
    dialer: fixture.dialer,
    connectWaitMs: 1_000,
  });
  return new Promise<string>((resolve) => {
    connector({ hostname, host: hostname, protocol: 'https:', port: '443' }, (error, socket) =>
      resolve(
        error === null ? `${socket?.remoteAddress}` : (error as unknown as { fault: string }).fault,
      ),
    );
  });
}

describe('connecting', () => {
  it.each([
    '127.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '169.254.169.254',
    '10.0.0.1',
    '127.0.0.1.',
    '[fe80::1%25eth0]',
  ])('S13 webhooks 14 judges the literal %s itself and dials nothing', async (literal) => {
    const fixture = recording([]);
    expect(await connecting(literal, fixture)).toBe('blocked_address');
    expect(fixture.recorder.dials).toEqual([]);
  });
  it.each([
    { name: 'a private answer', answers: ['10.0.0.1'] },
    { name: 'a private answer among public ones', answers: ['8.8.8.8', '192.168.0.1'] },
    { name: 'a mapped one', answers: ['8.8.8.8', '::ffff:127.0.0.1'] },
    { name: 'no answer', answers: [] },
    { name: 'an answer that is no address', answers: ['example.com'] },
  ])('S13 webhooks 14 refuses a name with $name before a packet leaves', async ({ answers }) => {
    const fixture = recording([answers]);
    expect(await connecting('hooks.example.com', fixture)).toBe('blocked_address');
    expect(fixture.recorder.dials).toEqual([]);
  });
  it('S13 webhooks 14 looks a name up once and dials the address that it judged', async () => {
    const fixture = recording([['8.8.8.8'], ['127.0.0.1']]);
    expect(await connecting('hooks.example.com.', fixture)).toBe('8.8.8.8');
    expect(fixture.recorder.asked).toEqual(['hooks.example.com']);
    expect(fixture.recorder.dials).toMatchObject([
      { address: '8.8.8.8', servername: 'hooks.example.com' },
    ]);
  });
  it('S13 judges again where the connection really ended', async () => {
    const fixture = recording([['8.8.8.8']], '127.0.0.1');
    expect(await connecting('hooks.example.com', fixture)).toBe('blocked_address');
  });
  it('webhooks 15 refuses a name that resolves to loopback in development too', async () => {
    const fixture = recording([['127.0.0.1']]);
    expect(await connecting('evil.example.com', fixture, 'development')).toBe('blocked_address');
    expect(await connecting('localhost', fixture, 'development')).toBe('127.0.0.1');
    expect(fixture.recorder.asked).toEqual(['evil.example.com']);
  });
  it('says dns_error for a name that nobody knows', async () => {
    const fixture = { ...recording([]), resolver: () => Promise.reject(new Error('ENOTFOUND')) };
    expect(await connecting('nobody.example.com', fixture)).toBe('dns_error');
  });
});

describe('sending', () => {
  it.each([
    'http://127.0.0.1:1/',
    'https://2130706433/',
    'https://x@8.8.8.8/',
    'https://localhost/',
    'nonsense',
  ])('S13 dials nothing for %s', async (url) => {
    const { recorder, dialer, resolver } = recording([]);
    const client = outbound({ ...production, dialer, resolver });
    const answer = await client.send({ url, method: 'POST', headers: {}, body: '{}' });
    await client.close();
    expect(answer).toMatchObject({ status: 0, error: 'blocked_address' });
    expect(recorder).toEqual({ dials: [], asked: [] });
  });
});
