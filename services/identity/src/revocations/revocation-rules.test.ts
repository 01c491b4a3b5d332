import { describe, expect, it } from 'vitest';
import { revocationsOf } from './revocation-rules.ts';

const of = (type: string, more: object = {}) =>
  revocationsOf([{ type, data: { id: 'x', ...more } }]);
const changes = (...types: readonly string[]) =>
  revocationsOf(types.map((type) => ({ type, data: { id: 'ann' } }))).flatMap((one) =>
    'changed' in one ? [`${one.changed} ${one.id} ${one.narrows ? 'narrowed' : 'changed'}`] : [],
  );

describe('what ends with an event', () => {
  it.each([
    ['SessionRevoked', 'sid'],
    ['AgentSuspended', 'agent'],
    ['AgentDeleted', 'agent'],
    ['ApiKeyRevoked', 'key'],
    ['AgentKeyRevoked', 'key'],
    ['AgentSessionEnded', 'asid'],
    ['UserDisabled', 'user'],
    ['UserDeleted', 'user'],
  ])('%s puts its id on the list %s', (type, list) => {
    expect(of(type)).toContainEqual({ list, id: 'x' });
  });

  it.each([
    ['UserEnabled', 'user'],
    ['AgentResumed', 'agent'],
  ])('%s takes the id off the list %s', (type, lift) => {
    expect(of(type)).toContainEqual({ lift, id: 'x' });
  });

  it.each(['PasswordSet', 'SessionsRevoked'])('%s ends the logins but the kept one', (type) => {
    const at = '2026-01-01T10:00:00.400Z';
    expect(of(type, { by: 'user', epoch: 3, keep_sid: 's', at })).toEqual([
      // P3: includes sign-ins without a session, also those of the same second.
      { list: 'signin', id: 'x', before: Date.parse('2026-01-01T10:00:01Z') / 1_000 },
      { loginsOf: 'x', epoch: 3, keep: 's' },
      { agentSessionsOf: 'x' },
    ]);
  });

  it('an account that its owner took ends all that whoever had it had made', () => {
    expect(of('AccountReclaimed', { epoch: 3, tokens_before: 9, at: 'then' })).toEqual([
      { list: 'rank', id: 'x', before: 9 },
      { loginsOf: 'x', epoch: 3, keep: null },
      { agentSessionsOf: 'x' },
      { madeBy: 'x', until: 'then' },
    ]);
  });

  it('a first password ends nothing', () => {
    expect(of('PasswordSet', { by: 'created', epoch: 0, keep_sid: null })).toEqual([]);
  });

  it('a role that was taken ends the tokens that show it, and no other change of roles does', () => {
    expect(of('RolesChanged', { tokens_before: 9 })).toEqual([
      { list: 'rank', id: 'x', before: 9 },
    ]);
    expect(of('RolesChanged')).toEqual([]);
  });

  it('a narrower token of an agent session outdates the copies of it', () => {
    const changed = [{ changed: 'agent_session', id: 'x', narrows: true }];
    expect(of('AgentSessionRenewed', { parent_jti: 'jti' })).toEqual(changed);
    expect(of('AgentSessionRenewed', { parent_jti: null })).toEqual([]);
  });

  it('nothing with an event of another stream', () => {
    expect(of('TenantCreated')).toEqual([]);
  });
});

describe('whoever keeps copies of users', () => {
  it.each([
    ['UserVouched', 'user ann changed'],
    ['UserEnabled', 'user ann changed'],
    ['VouchWithdrawn', 'user ann narrowed'],
    ['UserDisabled', 'user ann narrowed'],
    ['UserDeleted', 'user ann narrowed'],
  ])('is told of %s', (type, told) => {
    expect(changes('ProfileChanged', type)).toEqual([told]);
  });

  it('is told once of what came together, and nothing of what changes no right to approve', () => {
    expect(changes('UserEnabled', 'VouchWithdrawn')).toEqual(['user ann narrowed']);
    expect(changes('ProfileChanged', 'RolesChanged')).toEqual([]);
    expect(changes()).toEqual([]);
  });
});
