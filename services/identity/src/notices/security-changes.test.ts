import { isIgnored, type RecordedEvent } from '@cardea/event-store';
import { describe, expect, it } from 'vitest';
import { SECURITY_CHANGES } from '../mail/mail.module.ts';
import { type ChangeNotice, SECURITY_CHANGES_OF, type SecurityChange } from './security-changes.ts';

const AT = '2026-01-02T10:00:00.000Z';
const user = { createdAt: '2026-01-01T10:00:00.000Z', reclaimedAt: null };
type Decide = (event: RecordedEvent, of: object) => ChangeNotice | undefined;

const decide = (
  type: SecurityChange,
  data: object,
  of: object = user,
): ChangeNotice | undefined => {
  const decision = SECURITY_CHANGES_OF[type];
  if (isIgnored(decision)) throw new Error(`${type} is ignored`);
  return (decision as unknown as Decide)({ type, data } as RecordedEvent, of);
};
/** Each member that a decision reads, with all of its values. */
const VARIANTS: readonly object[] = ['created', 'user', 'reset', 'admin', 'system'].flatMap((by) =>
  ['totp', 'passkey', 'recovery'].map((type) => ({
    ...{ by, type, factor_type: type === 'recovery' ? 'totp' : type, provider: 'google', at: AT },
    code_hashes: ['a', 'b'],
  })),
);

const types = Object.keys(SECURITY_CHANGES_OF) as SecurityChange[];
const decided = types.filter((type) => !isIgnored(SECURITY_CHANGES_OF[type]));

describe('people 11 events of an account', () => {
  it.each(decided)('%s tells its owner something that every language has a text for', (type) => {
    const changes = VARIANTS.map((data) => decide(type, data)?.change);
    const known = changes.filter((change) => change !== undefined);
    expect(known.length).toBeGreaterThan(0);
    expect(SECURITY_CHANGES).toEqual(expect.arrayContaining(known));
  });

  it.each(types.filter((type) => !decided.includes(type)))(
    '%s says why it tells nothing',
    (type) => {
      expect(SECURITY_CHANGES_OF[type]).toMatchObject({
        ignored: expect.stringMatching(/\w+ \w+/),
      });
    },
  );

  it('tell each change there is; a deletion before the address is erased, and an address that was left', () => {
    const all = decided.flatMap((type) => VARIANTS.map((data) => decide(type, data)?.change));
    expect([...new Set([...all, undefined, 'account_deleted', 'email_left'])].toSorted()).toEqual(
      [...SECURITY_CHANGES, undefined].toSorted(),
    );
  });

  it('tell nothing of what came with the account, or went when its owner reclaimed it', () => {
    const born = { ...user, createdAt: AT };
    const reclaimed = { ...user, reclaimedAt: AT };
    const data = { at: AT, factor_type: 'totp', provider: 'google' };
    for (const type of ['FactorAdded', 'RecoveryCodesSet', 'IdentityLinked'] as const)
      expect(decide(type, data, born), type).toBeUndefined();
    for (const type of ['FactorRemoved', 'IdentityUnlinked'] as const)
      expect(decide(type, data, reclaimed), type).toBeUndefined();
    expect(decide('PasswordSet', { by: 'created' })).toBeUndefined();
    expect(decide('FactorUsed', { type: 'totp' })).toBeUndefined();
  });
});
