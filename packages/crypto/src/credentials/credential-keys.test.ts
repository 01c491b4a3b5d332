import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CredentialKey,
  issueClientSecret,
  issueKey,
  issuePublishableKey,
  parseKey,
  printKey,
  secretHash,
} from './credential-keys.ts';

const letters = (length: number, more = '') =>
  fc
    .array(
      fc.constantFrom(...`0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz${more}`),
      { minLength: length, maxLength: length },
    )
    .map((all) => all.join(''));
const environment = fc.constantFrom('live' as const, 'test' as const);
const anyKey: fc.Arbitrary<CredentialKey> = fc.oneof(
  fc.record({
    kind: fc.constant('svc' as const),
    environment,
    id: letters(8),
    secret: letters(43),
  }),
  fc.record({
    kind: fc.constant('agk' as const),
    environment,
    id: letters(12),
    secret: letters(43, '-_'),
  }),
  fc.record({ kind: fc.constant('pk' as const), environment, id: letters(24) }),
  fc.record({ kind: fc.constant('cs' as const), secret: letters(43) }),
);
/** UTF-16 units of any kind, including lone surrogates. */
const anyText = fc
  .array(fc.nat(0xffff), { maxLength: 80 })
  .map((units) => String.fromCharCode(...units));
const RUNS = { numRuns: 2000 };

describe('a key', () => {
  it('F3 is read as it was printed, and in no other spelling', () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        const text = printKey(key);
        const others = [`${text} `, ` ${text}`, `${text}\n`, `${text}0`, text.slice(0, -1)];
        return (
          isDeepStrictEqual(parseKey(text), { ...key }) &&
          others.every((other) => parseKey(other) === undefined)
        );
      }),
      RUNS,
    );
  });

  it('F3 with one letter mistyped is found out by its checksum', () => {
    fc.assert(
      fc.property(
        anyKey.filter(({ kind }) => kind === 'svc' || kind === 'agk'),
        fc.nat(),
        letters(1),
        (key, at, letter) => {
          const text = printKey(key);
          const place = at % text.length;
          const other = text.slice(0, place) + letter + text.slice(place + 1);
          return other === text || parseKey(other) === undefined;
        },
      ),
      RUNS,
    );
  });

  it('F3 is nothing else, and nothing else makes the parser throw', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anyText,
          fc.string().map((text) => `svc_live_${text}`),
          fc.string().map((text) => `agk_${text}`),
        ),
        (text) => {
          const key = parseKey(text);
          return key === undefined || printKey(key) === text;
        },
      ),
      RUNS,
    );
  });

  it('that is issued has the lengths of its kind, and leaves only a hash behind', () => {
    const svc = issueKey('svc', 'live');
    const agk = issueKey('agk', 'test');
    expect(svc.text).toMatch(/^svc_live_[0-9A-Za-z]{57}$/);
    expect(agk.text).toMatch(/^agk_test_[0-9A-Za-z]{12}_[\w-]{43}[0-9A-Za-z]{6}$/);
    expect(issuePublishableKey('live')).toMatch(/^pk_live_[0-9A-Za-z]{24}$/);
    expect(issueClientSecret().text).toMatch(/^cs_[0-9A-Za-z]{43}$/);
    const parsed = parseKey(agk.text);
    if (parsed?.kind !== 'agk') throw new Error('not an agent key');
    expect([parsed.id, secretHash(parsed.secret)]).toEqual([agk.id, agk.secretHash]);
    expect(parseKey(svc.text)).toMatchObject({ kind: 'svc', id: svc.id });
  });
});
