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
  const deadlineMs = 200;
  const startMs = performance.now();
  let asked = 0;
  const heldUp = (): boolean => {
    asked += 1;
    while (performance.now() - startMs <= deadlineMs);
    return asked === 2;
  };
  expect(await untilTrue(heldUp, { deadlineMs })).toBe(true);
});
