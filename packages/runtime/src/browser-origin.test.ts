import { describe, expect, it } from 'vitest';
import { isBrowserOrigin } from './browser-origin.ts';

describe('an allowed origin', () => {
  it('is written as browsers send it', () => {
    expect(isBrowserOrigin('https://app.example.com')).toBe(true);
    expect(isBrowserOrigin('http://127.0.0.1:3000')).toBe(true);
    expect(isBrowserOrigin('http://[::1]:3000')).toBe(true);
    for (const other of ['null', '*', 'https://app.example.com/', 'https://APP.example.com']) {
      expect(isBrowserOrigin(other)).toBe(false);
    }
    for (const other of ['http://app.example.com', 'https://app.example.com:443', 'ftp://a.b']) {
      expect(isBrowserOrigin(other)).toBe(false);
    }
  });
});
