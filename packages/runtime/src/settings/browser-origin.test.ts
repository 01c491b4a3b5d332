import { describe, expect, it } from 'vitest';
import { isBrowserOrigin, originRule } from './browser-origin.ts';

const page = { isNative: false, isDevelopment: false };
const local = { isNative: false, isDevelopment: true };
const native = { isNative: true, isDevelopment: false };

describe('an allowed origin', () => {
  it.each([
    ...['https://app.example.com', 'https://app.example.com:8443'],
    ...['http://127.0.0.1:3000', 'http://[::1]:3000', 'https://localhost'],
  ])('is written as browsers send it: %s', (origin) => {
    for (const client of [page, local, native]) expect(originRule(origin, client)).toBeUndefined();
    expect(isBrowserOrigin(origin)).toBe(true);
  });

  it.each([
    ['null', 'null'],
    ['*', 'wildcard'],
    ['https://*.example.com', 'wildcard'],
    ['https://app.example.com/', 'not_as_sent'],
    ['https://APP.example.com', 'not_as_sent'],
    ['https://app.example.com:443', 'not_as_sent'],
    ['https://app.example.com/path', 'not_as_sent'],
    ['https://ann@app.example.com', 'not_as_sent'],
    ['https://ünïcode.example', 'not_as_sent'],
    ['app.example.com', 'not_as_sent'],
    ['', 'not_as_sent'],
    ['http://app.example.com', 'http_host'],
    ['http://localhost.example.com', 'http_host'],
    ['ftp://a.b', 'scheme'],
    ['ws://a.b', 'scheme'],
    ['file://host', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['data:text/html,x', 'scheme'],
  ])('is never %s (%s)', (origin, rule) => {
    expect(originRule(origin, page)).toBe(rule);
    expect(originRule(origin, native)).toBe(rule);
    expect(isBrowserOrigin(origin)).toBe(false);
  });

  it('is localhost by http in development and for native applications', () => {
    for (const origin of ['http://localhost:5173', 'http://localhost']) {
      expect(originRule(origin, page)).toBe('http_host');
      expect(originRule(origin, local)).toBeUndefined();
      expect(originRule(origin, native)).toBeUndefined();
    }
  });

  it.each([
    ...['capacitor://localhost', 'ionic://localhost', 'tauri://localhost', 'app://app.example'],
    ...['chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb', 'http://tauri.localhost'],
  ])('is %s for native applications alone', (origin) => {
    expect(originRule(origin, native)).toBeUndefined();
    expect(originRule(origin, local)).toBeDefined();
  });

  it.each([
    'capacitor://localhost/',
    'capacitor:localhost',
    'capacitor://',
    'app://A',
    'app://a/b',
  ])('of a native application is never %s', (origin) => {
    expect(originRule(origin, native)).toBe('not_as_sent');
  });
});
