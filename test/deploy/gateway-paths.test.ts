/** Which paths the gateway forwards unchanged, and which it refuses. */
import { testForm } from '@cardea/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { askRaw } from '../raw-http.ts';
import { edgeFixture, faultsOf } from './gateway-fixture.ts';

const CHANGES_MAX = 3;
const RUNS = testForm.long ? 50_000 : 1_000;
const fixture = edgeFixture();

const filled = (path: string): string => path.replaceAll(/\{\w+\}/g, 'x7');

const isAt = (template: string, path: string): boolean => {
  const parts = template.split('/');
  const given = path.split('/');
  return (
    parts.length === given.length &&
    parts.every((part, at) => part.startsWith('{') || part === given[at])
  );
};

/** Whether this is an endpoint's path if every part of it is decoded exactly once. */
function plainly(url: string): boolean {
  const path = url.split('?', 1)[0] ?? '';
  const read = path.split('/').map((part) => decodeURIComponent(part));
  const clean = read.every((part) => part !== '.' && part !== '..');
  return clean && fixture.routes.some((route) => isAt(route.path, read.join('/')));
}

/** Paths that could be mistaken for this one. */
function oddly(path: string): readonly string[] {
  const real = filled(path);
  const last = real.lastIndexOf('/');
  const replaced = (by: string) =>
    last === 0 ? [] : [real.slice(0, last) + by + real.slice(last + 1)];
  const words = path.split('/');
  const word = words.findLastIndex((part) => !part.startsWith('{'));
  const longer = words.map((part, at) => (at === word ? `${part}x` : part)).join('/');
  return [
    `${real}/`,
    // If the path has an id at that place, the longer word is an id, too.
    ...(fixture.routes.some((route) => isAt(route.path, longer)) ? [] : [filled(longer)]),
    ...replaced('//'),
    ...replaced('%2f'),
    ...replaced('%2F'),
    ...replaced('\\'),
    ...replaced('%5c'),
    ...replaced('/./'),
    ...replaced('/%2e/'),
    `/api/..${real}`,
    `/api/%2e%2e${real}`,
    `/api/.%2E${real}`,
    `/../..${real}`,
    `/..%2f${real}`,
    `${real}/..`,
    `${real};`,
    `${real}#x`,
    `/nowhere#/..${real}`,
    `${real};a=b`,
    `${real}%00`,
    `${real}\xe9`,
    `${real}?x=1`.replace('?', '/?'),
    real.toUpperCase(),
  ];
}

describe('O5 a path that is none', () => {
  it('is answered 404 in our words, and no service sees it', async () => {
    const wrong: string[] = [];
    for (const { path } of fixture.routes) {
      for (const odd of oddly(path)) {
        const faults = faultsOf(await askRaw(fixture.gateway.port, odd), 404, 'not_found');
        wrong.push(...faults.map((fault) => `${odd}: ${fault}`));
      }
    }
    expect(wrong).toEqual([]);
    expect(fixture.service.seen.map(({ url }) => url)).toEqual([]);
  });

  it('F1 means to its service what it meant to nginx, whatever was done to it', async () => {
    const odd = ['//', '.', '..', '/../', '%2e', '%2F', '%5c', '%00', '%0a', ';', '\\', '#', '%zz'];
    const fair = [
      '/',
      '%61',
      '%20',
      '%23',
      '%3F',
      '%3b',
      '%25',
      '%252f',
      '?',
      '&',
      'x',
      '/v1',
      ':',
    ];
    const piece = fc.constantFrom(...odd, ...fair);
    const change = fc.record({ at: fc.nat(80), cut: fc.nat(3), piece });
    const changes = fc.array(change, { minLength: 1, maxLength: CHANGES_MAX });
    let forwarded = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...fixture.routes), changes, async (route, made) => {
        let sent = filled(route.path);
        for (const { at, cut, piece: put } of made) {
          const place = at % sent.length;
          sent = sent.slice(0, place) + put + sent.slice(place + cut);
        }
        fixture.service.seen.length = 0;
        const { status, body } = await askRaw(fixture.gateway.port, `/${sent.slice(1)}`);
        if (status >= 400) expect(body).toContain('"request_id"');
        for (const { url } of fixture.service.seen)
          expect([url, plainly(url)]).toEqual([url, true]);
        forwarded += fixture.service.seen.length;
      }),
      { numRuns: RUNS, seed: testForm.seed },
    );
    expect(forwarded).toBeGreaterThan(0);
  });

  it.each(['/x', '/api', '/api/v1', '/gateway-error', '/gateway-malformed', '/.env', '/docs/x'])(
    'is %s',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        expect(
          faultsOf(await askRaw(fixture.gateway.port, path, { method }), 404, 'not_found'),
        ).toEqual([]);
      }
    },
  );

  it.each([
    '/internal/introspect',
    '/internal/approvals',
    '/internal',
    '/dev/mailbox',
    '/metrics',
    '/livez',
    '/readyz',
    '/startupz',
    '/loglevel',
    '/api/v1/../../internal/introspect',
    '/api/v1/%2e%2e/%2e%2e/internal/introspect',
  ])('S25 is %s, which is for nobody outside', async (path) => {
    for (const method of ['GET', 'POST', 'PUT']) {
      expect(
        faultsOf(await askRaw(fixture.gateway.port, path, { method }), 404, 'not_found'),
      ).toEqual([]);
    }
    expect(fixture.service.seen).toEqual([]);
  });

  it('lets its query be as odd as it likes', async () => {
    const url = '/api/v1/auth/me?a=//../%2e%2f;\\%00';
    expect((await askRaw(fixture.gateway.port, url)).status).toBe(200);
    expect(fixture.service.seen.map((each) => each.url)).toEqual([url]);
  });
});
