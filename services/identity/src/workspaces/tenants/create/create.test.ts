import { describe, expect, it } from 'vitest';
import { newTenant } from './create.ts';

describe('a tenant that an owner creates', () => {
  it('is named for people and for addresses', () => {
    expect(newTenant({ name: ' Acme Öst ' })).toEqual({
      tenant: { name: 'Acme Öst', displayName: 'Acme Öst', slug: 'acme-ost', isChosen: false },
    });
    expect(newTenant({ name: 'Acme', slug: 'acme-2', display_name: 'ACME' })).toEqual({
      tenant: { name: 'Acme', displayName: 'ACME', slug: 'acme-2', isChosen: true },
    });
  });

  it.each([
    { body: { name: ' ' }, field: 'name' },
    { body: { name: 'a', display_name: '\u0000' }, field: 'display_name' },
    { body: { name: 'a', slug: 'Not A Slug' }, field: 'slug' },
    { body: { name: 'a', slug: '-a' }, field: 'slug' },
    { body: { name: 'a', slug: 'x'.repeat(64) }, field: 'slug' },
  ])('has no $field of another form', ({ body, field }) => {
    expect(newTenant(body)).toMatchObject({ refused: 'invalid_request', details: [{ field }] });
  });
});
