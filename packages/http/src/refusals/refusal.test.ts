import { expect, it } from 'vitest';
import { reasonOf, refusalOfThrow } from './refusal.ts';

it('names an error, its causes and their codes, and repeats no text of theirs', () => {
  const refused = Object.assign(new Error('connect to 10.0.0.7 with password hunter2'), {
    code: 'ECONNREFUSED',
  });
  const away = new Error('the database said: hunter2', { cause: refused });
  away.name = 'DatabaseUnavailable';

  expect(reasonOf(away)).toBe('DatabaseUnavailable, caused by Error ECONNREFUSED');
  expect(reasonOf('hunter2')).toBe('');
});

it('C4 answers too many changes of one stream with 429 and when they are over', () => {
  const thrown = Object.assign(new Error('too often'), { retryAfterSeconds: 1234 });
  thrown.name = 'TooManyChanges';
  expect(refusalOfThrow(thrown)).toMatchObject({
    status: 429,
    code: 'rate_limited',
    headers: { 'Retry-After': '1234' },
  });
});
