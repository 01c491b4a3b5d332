import type { IncomingMessage } from 'node:http';
import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { endpoint } from './endpoint.ts';
import { fastRoutes } from './fast-path.ts';
import { routeOf } from './route.ts';

const asked = (method: 'post' | 'get', path: string) =>
  routeOf(
    endpoint(
      {
        name: 'ask',
        summary: 'Answers.',
        tag: 'asking',
        method,
        path,
        fast: true,
        who: 'anyone',
        tenant: 'none',
        area: 'fga',
        ok: Type.Object({}),
        refusals: {},
      },
      async () => ({ ok: {} }),
    ),
    {} as never,
  );
const routes = [asked('post', '/ask')];
const takes = ({ headers = {}, method = 'POST', url = '/ask' }) => {
  const plain = { host: 'x', 'content-type': 'application/json', 'content-length': '2' };
  const request = { method, url, headers: { ...plain, ...headers } };
  return fastRoutes(routes)(request as unknown as IncomingMessage) !== undefined;
};

describe('the fast path', () => {
  it('takes a plain request', () => {
    expect(takes({})).toBe(true);
    expect(takes({ headers: { 'content-length': String(256 * 1024) } })).toBe(true);
  });

  it.each([
    [{ method: 'GET' }],
    [{ url: '/ask?' }],
    [{ url: '/ask/' }],
    [{ url: '/Ask' }],
    [{ url: '/other' }],
    [{ headers: { host: undefined } }],
    [{ headers: { expect: '100-continue' } }],
    [{ headers: { 'content-type': 'application/json; charset=utf-8' } }],
    [{ headers: { 'content-type': undefined } }],
    [{ headers: { 'content-length': undefined } }],
    [{ headers: { 'content-length': String(256 * 1024 + 1) } }],
    [{ headers: { 'content-encoding': 'identity' } }],
    [{ headers: { 'transfer-encoding': 'chunked' } }],
  ])('leaves %o to Express', (request) => {
    expect(takes(request)).toBe(false);
  });

  it('is for no endpoint with parameters, and for none that is read', () => {
    expect(() => fastRoutes([asked('post', '/ask/{id}')])).toThrow('cannot be fast');
    expect(() => fastRoutes([asked('get', '/ask')])).toThrow('cannot be fast');
  });
});
