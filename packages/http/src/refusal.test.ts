import { expect, it } from 'vitest';
import { reasonOf } from './refusal.ts';

it('names an error, its causes and their codes, and repeats no text of theirs', () => {
  const refused = Object.assign(new Error('connect to 10.0.0.7 with password hunter2'), {
    code: 'ECONNREFUSED',
  });
  const away = new Error('the database said: hunter2', { cause: refused });
  away.name = 'DatabaseUnavailable';

  expect(reasonOf(away)).toBe('DatabaseUnavailable, caused by Error ECONNREFUSED');
  expect(reasonOf('hunter2')).toBe('');
});
