import { describe, expect, it } from 'vitest';
import { chosenScopes } from './chosen-scopes.ts';

const missing = { '': ['openid', 'email'], 'https://api': ['read', 'write'] };

describe('what a user lets an application have', () => {
  it('oauth 15 is all that it asks for, unless they choose', () => {
    expect(chosenScopes(missing, {}, false)).toEqual(missing);
  });

  it('oauth 15 is what they chose, and never without openid', () => {
    const some = { '': ['openid'], 'https://api': ['read'] };
    expect(chosenScopes(missing, { scopes: ['read'] }, false)).toEqual(some);
    expect(chosenScopes(missing, { 'scope:read': 'on' }, true)).toEqual(some);
    expect(chosenScopes(missing, {}, true)).toEqual({ '': ['openid'], 'https://api': [] });
  });

  it('is nothing that was not asked for', () => {
    expect(chosenScopes({ '': ['openid'] }, { scopes: ['roles'] }, false)).toEqual({
      '': ['openid'],
    });
  });
});
