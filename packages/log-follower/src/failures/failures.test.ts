import { errorCode, Outage } from '@cardea/runtime';
import { expect, test } from 'vitest';
import { isOutage, NotCaughtUp } from './failures.ts';

const failure = (over: object, message = 'no matter') => Object.assign(new Error(message), over);

test.each([
  ['a database that is away', new Outage('away')],
  ['a table that lags behind its log', new NotCaughtUp()],
  ['two transactions that met', failure({ code: '40P01' })],
  ['a table that no migration has made yet', failure({ code: '42P01' })],
  ['a column that no migration has made yet', failure({ code: '42703' })],
  ['a refused connection', failure({ code: 'ECONNREFUSED' })],
  ['a connection that broke off', failure({}, 'Connection terminated unexpectedly')],
])('%s is an outage and blames no event', (_, error) => {
  expect(isOutage(error)).toBe(true);
});

test.each([
  ['a bug of the handler', new TypeError('x is undefined')],
  ['a value that the table does not take', failure({ code: '22P02' })],
  ['a row that is there already', failure({ code: '23505' })],
  ['a key that no index takes', failure({ code: '54000' })],
  ['an error that only bears the name of an outage', failure({ name: 'DatabaseUnavailable' })],
  ['something that is no error', 'thrown text'],
  ['nothing', null],
])('%s blames the event', (_, error) => {
  expect(isOutage(error)).toBe(false);
});

test('what is written down of a failure is its code or name, never its message', () => {
  expect(errorCode(failure({ code: '22P02' }, 'secret'))).toBe('22P02');
  expect(errorCode(new TypeError('secret'))).toBe('TypeError');
  expect(errorCode('secret')).toBe('Error');
});
