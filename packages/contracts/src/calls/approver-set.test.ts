import { describe, expect, it } from 'vitest';
import { type ApproverSet, printApproverSet, readApproverSet } from './approver-set.ts';

const relation = (object_type: string, object_id: string, name: string): ApproverSet => ({
  relation: name,
  object_type,
  object_id,
});

describe('a set of approvers as a text', () => {
  it.each<[string, ApproverSet]>([
    ['role:admin', { role: 'admin' }],
    ['team:payments#approver', relation('team', 'payments', 'approver')],
    ['role:admin#member', relation('role', 'admin', 'member')],
    ['folder:"a b:#\\"c"#viewer', relation('folder', 'a b:#"c', 'viewer')],
    ['"my type":x#"can approve"', relation('my type', 'x', 'can approve')],
  ])('%s is read as it is printed', (text, set) => {
    expect(readApproverSet(text)).toEqual(set);
    expect(printApproverSet(set)).toBe(text);
  });

  it.each([
    'ann',
    '0190a2f4-0000-7000-8000-000000000000',
    'role:',
    'role:a b',
    'team:payments',
    'team:#approver',
    'team:"payments"#approver',
    'team:"\\q"#approver',
    'team:""#approver',
    'team:a#b#c',
    `team:${'x'.repeat(600)}#approver`,
  ])('%s is none', (text) => {
    expect(readApproverSet(text)).toBeUndefined();
  });
});
