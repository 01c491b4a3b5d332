import { expect, it } from 'vitest';
import { ADDRESS_MAX_BYTES, formAsAddress } from './form-as-address.ts';

it('C6 a form becomes an address that every client takes, or is refused', () => {
  expect(formAsAddress('/x', { state: 'a b' })).toEqual({ address: '/x?state=a+b' });
  const escaped = 'é'.repeat(ADDRESS_MAX_BYTES / 6);
  expect(formAsAddress('/x', { state: escaped })).toMatchObject({
    refused: 'invalid_request',
    details: [{ field: 'body', rule: 'max_bytes', limit: ADDRESS_MAX_BYTES }],
  });
});
