import { expect, it } from 'vitest';
import { untilTrue } from './until-true.ts';

it('answers the first value that is there', async () => {
  let asked = 0;
  expect(await untilTrue(() => (++asked < 3 ? undefined : asked))).toBe(3);
});

it('says what it waited for, and why it failed last', async () => {
  const waiting = untilTrue(
    () => {
      throw new Error('not reachable');
    },
    { deadlineMs: 1, what: 'the server answers' },
  );
  await expect(waiting).rejects.toMatchObject({
    message: 'Not true within 1 ms: the server answers',
    cause: { message: 'not reachable' },
  });
});

it('looks once more behind its deadline, for it may have been held up itself', async () => {
  let asked = 0;
  expect(await untilTrue(() => ++asked === 2, { deadlineMs: 0 }).catch(() => asked)).toBe(1);
  asked = 0;
  expect(await untilTrue(() => ++asked === 2, { deadlineMs: 1 })).toBe(true);
});
