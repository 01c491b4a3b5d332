import { expect, it } from 'vitest';
import { endAll, endTogether, TOGETHER_MAX } from './write-answer.ts';

function fixture() {
  const ended: string[] = [];
  const response = { end: (text: string) => ended.push(text) } as never;
  const answer = (...texts: readonly string[]) => {
    for (const content of texts) endTogether({ response, content, encoding: 'utf8' });
  };
  return { ended, answer };
}
const endOfTurn = () => new Promise((resolve) => setImmediate(resolve));
const numbered = (count: number) => Array.from({ length: count }, (_, at) => String(at));

it('ends what is ready in one turn at its end, in order', async () => {
  const { ended, answer } = fixture();
  answer('a', 'b');
  await null;
  answer('c');
  expect(ended).toEqual([]);
  await endOfTurn();
  expect(ended).toEqual(['a', 'b', 'c']);
});

it('ends what waits when it is asked to, and each once', async () => {
  const { ended, answer } = fixture();
  answer('a', 'b');
  endAll();
  expect(ended).toEqual(['a', 'b']);
  await endOfTurn();
  expect(ended).toEqual(['a', 'b']);
});

it('ends many before the end of the turn, and each once', async () => {
  const { ended, answer } = fixture();
  const texts = numbered(2 * TOGETHER_MAX + 1);
  answer(...texts);
  expect(ended).toEqual(texts.slice(0, 2 * TOGETHER_MAX));
  await endOfTurn();
  expect(ended).toEqual(texts);
});
