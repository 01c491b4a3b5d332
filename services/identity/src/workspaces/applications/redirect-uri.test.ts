import { describe, expect, it } from 'vitest';
import { COLUMNS, REDIRECT_ROWS } from '../../../test/address-forms.ts';
import { checkRedirectUri, isOwnerUnknown, redirectWarnings } from './redirect-uri.ts';

describe('a redirect URI', () => {
  it.each(REDIRECT_ROWS)('$uri of a client of kind $column is $outcome [oauth-32]', (row) => {
    const checked = checkRedirectUri(row.uri, COLUMNS[row.column]);
    expect('kind' in checked ? checked.kind : checked.rule).toBe(row.outcome);
  });

  it('belongs to nobody who is known at a loopback port or a private-use scheme', () => {
    for (const uri of ['com.example.app:/cb', 'http://127.0.0.1/', 'http://localhost:1/cb']) {
      expect(isOwnerUnknown(uri)).toBe(true);
    }
    expect(isOwnerUnknown('https://app.example.com/cb')).toBe(false);
  });

  it('with a scheme that has no dot comes with a warning', () => {
    expect(redirectWarnings(['https://a.b/', 'com.example.app:/cb'])).toEqual([]);
    expect(redirectWarnings(['https://a.b/', 'cursor://cb', 'x:/'])).toEqual(['scheme_not_owned']);
    expect(redirectWarnings(['http://localhost'])).toEqual([]);
  });
});
