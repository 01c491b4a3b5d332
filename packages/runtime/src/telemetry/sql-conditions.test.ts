import { expect, it } from 'vitest';
import { sqlConditionOf } from './sql-conditions.ts';

it.each([
  ['53100', 'disk_full'],
  ['25006', 'read_only_sql_transaction'],
  ['57P01', 'admin_shutdown'],
  ['23505', 'unique_violation'],
  ['EPIPE', undefined],
  [53100, undefined],
])('names %s %s', (code, name) => {
  expect(sqlConditionOf(code)).toBe(name);
});
