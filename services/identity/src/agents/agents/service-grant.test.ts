import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coveredBy, isSame, missingFrom, normalised, type ServiceGrant } from './service-grant.ts';

const field = fc.constantFrom('*', 'a', 'b', 'c');
const grants = fc.array(
  fc.record({
    service_name: fc.constantFrom('one', 'two'),
    fields: fc.uniqueArray(field, { minLength: 1 }),
  }),
  { maxLength: 4 },
);
const pairs = (list: readonly ServiceGrant[]) =>
  normalised(list)
    .flatMap(({ service_name, fields }) => fields.map((name) => `${service_name} ${name}`))
    .sort();

describe('a grant', () => {
  it('splits what is wanted into what it covers and what is missing, and loses nothing', () => {
    fc.assert(
      fc.property(grants, grants, (granted, asked) => {
        const wanted = normalised(asked);
        const both = [...coveredBy(granted, wanted), ...missingFrom(granted, wanted)];
        expect(pairs(both)).toEqual(pairs(wanted));
        expect(missingFrom(granted, coveredBy(granted, wanted))).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  it('covers every field by a star, and a star by nothing less', () => {
    const star = [{ service_name: 'one', fields: ['*'] }];
    const some = [{ service_name: 'one', fields: ['a', 'b'] }];
    expect(missingFrom(star, some)).toEqual([]);
    expect(missingFrom(some, star)).toEqual(star);
    expect(missingFrom(star, [{ service_name: 'two', fields: ['a'] }])).toHaveLength(1);
  });

  it('is the same in any order, and names each service once', () => {
    const one = { service_name: 'one', fields: ['a'] };
    const more = { service_name: 'one', fields: ['b'] };
    expect(normalised([one, more])).toEqual([{ service_name: 'one', fields: ['a', 'b'] }]);
    expect(isSame([one, more], [{ service_name: 'one', fields: ['b', 'a'] }])).toBe(true);
    expect(isSame([one], [one, more])).toBe(false);
  });
});
