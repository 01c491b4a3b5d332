import { expect, test } from 'vitest';
import { errorCode, isPassing } from './passing-failure.ts';

const failure = (over: object, message = 'no matter') => Object.assign(new Error(message), over);

test.each([
  ['a database that is away', failure({ name: 'DatabaseUnavailable' })],
  ['two transactions that met', failure({ code: '40P01' })],
  ['a table that no migration has made yet', failure({ code: '42P01' })],
  ['a refused connection', failure({ code: 'ECONNREFUSED' })],
  ['a connection that broke off', failure({}, 'Connection terminated unexpectedly')],
])('%s passes and blames no event', (_, error) => {
  expect(isPassing(error)).toBe(true);
});

test.each([
  ['a bug of the handler', new TypeError('x is undefined')],
  ['a value that the table does not take', failure({ code: '22P02' })],
  ['a row that is there already', failure({ code: '23505' })],
  ['something that is no error', 'thrown text'],
])('%s blames the event', (_, error) => {
  expect(isPassing(error)).toBe(false);
});

test('what is written down of a failure is its code or name, never its message', () => {
  expect(errorCode(failure({ code: '22P02' }, 'secret'))).toBe('22P02');
  expect(errorCode(new TypeError('secret'))).toBe('TypeError');
  expect(errorCode('secret')).toBe('Error');
});
