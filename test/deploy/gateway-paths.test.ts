/** Which paths the gateway takes for what they say, and which for none. */
import { describe, expect, it } from 'vitest';
import { askRaw } from '../raw-http.ts';
import { edgeRig, faultsOf } from './gateway-rig.ts';

const rig = edgeRig();

const filled = (path: string): string => path.replaceAll(/\{\w+\}/g, 'x7');

const isAt = (template: string, path: string): boolean => {
  const parts = template.split('/');
  const given = path.split('/');
  return (
    parts.length === given.length &&
    parts.every((part, at) => part.startsWith('{') || part === given[at])
  );
};

/** Paths that somebody could take for this one. */
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
    // Where an id may stand, the longer word is one.
    ...(rig.routes.some((route) => isAt(route.path, longer)) ? [] : [filled(longer)]),
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
    for (const { path } of rig.routes) {
      for (const odd of oddly(path)) {
        const faults = faultsOf(await askRaw(rig.gateway.port, odd), 404, 'not_found');
        wrong.push(...faults.map((fault) => `${odd}: ${fault}`));
      }
    }
    expect(wrong).toEqual([]);
    expect(rig.service.seen.map(({ url }) => url)).toEqual([]);
  });

  it.each([
    '/',
    '/x',
    '/api',
    '/api/v1',
    '/gateway-error',
    '/gateway-malformed',
    '/.env',
    '/docs/x',
  ])('is %s', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
      expect(faultsOf(await askRaw(rig.gateway.port, path, { method }), 404, 'not_found')).toEqual(
        [],
      );
    }
  });

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
      expect(faultsOf(await askRaw(rig.gateway.port, path, { method }), 404, 'not_found')).toEqual(
        [],
      );
    }
    expect(rig.service.seen).toEqual([]);
  });

  it('lets its query be as odd as it likes', async () => {
    const url = '/api/v1/auth/me?a=//../%2e%2f;\\%00';
    expect((await askRaw(rig.gateway.port, url)).status).toBe(200);
    expect(rig.service.seen.map((each) => each.url)).toEqual([url]);
  });
});
