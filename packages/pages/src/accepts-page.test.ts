import { describe, expect, it } from 'vitest';
import { acceptsPage } from './accepts-page.ts';

describe('a page', () => {
  it.each([
    ['text/html', true],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
    ['application/json, text/html;q=0.5', true],
    ['TEXT/HTML; charset=utf-8', true],
    ['application/json', false],
    ['*/*', false],
    ['text/html;q=0', false],
    ['text/html-sandboxed', false],
    [undefined, false],
  ])('is for who accepts %s: %s', (accept, is) => {
    expect(acceptsPage(accept)).toBe(is);
  });
});
