import { describe, expect, it } from 'vitest';
import { isRedirectUri } from './redirect-uri.ts';

const web = { type: 'web', isDevelopment: false } as const;
const native = { type: 'native', isDevelopment: false } as const;

describe('a redirect URI', () => {
  it.each([
    'https://app.example.com/callback',
    'https://app.example.com',
    'https://app.example.com?a=b',
    'https://app.example.com:8443/a/b?c=d&e=%20',
    'http://127.0.0.1:3000/callback',
    'http://[::1]/callback',
  ])('oauth 6 may be %s', (uri) => {
    expect(isRedirectUri(uri, web)).toBe(true);
  });

  it.each([
    'http://app.example.com/callback',
    'http://localhost:3000/callback',
    'http://127.0.0.2/callback',
    'http://127.1/callback',
    'https://*.example.com/callback',
    'https://app.example.com/callback#fragment',
    'https://ann@app.example.com/callback',
    'https://app.example.com@evil.example/callback',
    'https://app.example.com/a/../callback',
    'https://app.example.com/a/..',
    'https://app.example.com/a/./b',
    'https://app.example.com/%2e%2e/callback',
    'https://app.example.com%2fevil.example/',
    'https://app.example.com\\evil.example/',
    'https://APP.example.com/callback',
    'HTTPS://app.example.com/callback',
    'https://app.example.com:443/callback',
    'https:app.example.com/callback',
    'https:///callback',
    'https://ünïcode.example/callback',
    'https://app.example.com/call back',
    'com.example.app:/callback',
    'javascript:alert(1)',
    'data:text/html,x',
    '/callback',
    '',
  ])('oauth 6 of a web application may not be %s', (uri) => {
    expect(isRedirectUri(uri, web)).toBe(false);
  });

  it('oauth 6 of a native application may have a scheme that is a reversed domain', () => {
    expect(isRedirectUri('com.example.app:/callback', native)).toBe(true);
    expect(isRedirectUri('com.example.app://host/callback', native)).toBe(false);
    expect(isRedirectUri('myapp:/callback', native)).toBe(false);
    expect(isRedirectUri('javascript:/callback', native)).toBe(false);
    expect(isRedirectUri('http://127.0.0.1/callback', native)).toBe(true);
  });

  it('oauth 6 may name localhost in development alone', () => {
    const uri = 'http://localhost:5173/callback';
    expect(isRedirectUri(uri, { type: 'spa', isDevelopment: true })).toBe(true);
    expect(isRedirectUri(uri, { type: 'spa', isDevelopment: false })).toBe(false);
  });
});
