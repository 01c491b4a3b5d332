import { DatabaseUnavailable, type Statement } from '@cardea/postgres';
import { DatabaseError } from 'pg';
import { expect, it } from 'vitest';
import { sharedTransactions } from './shared-transactions.ts';

/** Answers each statement with its text, and refuses those that `refusal` selects. */
function world(refusal: (text: string) => Error | undefined = () => undefined, joining = () => {}) {
  const transactions: string[][] = [];
  const run = (texts: readonly string[]) => {
    transactions.push([...texts]);
    const error = texts.map(refusal).find((each) => each !== undefined);
    if (error !== undefined) throw error;
    return texts.map((text) => ({ rows: [{ text }], rowCount: 1 }));
  };
  const shared = sharedTransactions(
    {
      asSystemAtOnce: async (statements: readonly Statement[]) =>
        run(statements.map(({ text }) => text)) as never,
    },
    joining,
  );
  return { transactions, shared };
}

const refused = new DatabaseError('no such value', 0, 'error');

it('statements of one turn share a transaction, those of another do not', async () => {
  const { transactions, shared } = world();
  const answers = await Promise.all([shared.query('a'), shared.query('b')]);
  expect(answers.map(({ rows }) => rows)).toEqual([[{ text: 'a' }], [{ text: 'b' }]]);
  await shared.query('c');
  expect(transactions).toEqual([['a', 'b'], ['c']]);
});

it('statements of one caller stay together, in their order', async () => {
  const { transactions, shared } = world((text) => (text === 'bad' ? refused : undefined));
  const [good, bad] = await Promise.allSettled([
    shared.together([{ text: 'a' }, { text: 'b' }]),
    shared.together([{ text: 'c' }, { text: 'bad' }]),
  ]);
  expect(good).toMatchObject({ value: [{ rows: [{ text: 'a' }] }, { rows: [{ text: 'b' }] }] });
  expect(bad).toEqual({ status: 'rejected', reason: refused });
  expect(transactions).toEqual([
    ['a', 'b', 'c', 'bad'],
    ['a', 'b'],
    ['c', 'bad'],
  ]);
});

it('what was put off travels along', async () => {
  const late: Promise<unknown>[] = [];
  const { transactions, shared } = world(undefined, () => {
    if (late.length === 0) late.push(shared.query('late'));
  });
  await shared.query('a');
  await Promise.all(late);
  expect(transactions).toEqual([['a', 'late']]);
});

it('a statement that is refused fails alone', async () => {
  const { transactions, shared } = world((text) => (text === 'bad' ? refused : undefined));
  const [good, bad] = await Promise.allSettled([shared.query('good'), shared.query('bad')]);
  expect(good).toMatchObject({ status: 'fulfilled', value: { rowCount: 1 } });
  expect(bad).toEqual({ status: 'rejected', reason: refused });
  expect(transactions).toEqual([['good', 'bad'], ['good'], ['bad']]);
});

it('an outage is everybody’s, for nobody knows what was committed', async () => {
  const gone = new DatabaseUnavailable('gone');
  const { transactions, shared } = world((text) => (text === 'b' ? gone : undefined));
  const all = await Promise.allSettled([shared.query('a'), shared.query('b')]);
  expect(all).toEqual([
    { status: 'rejected', reason: gone },
    { status: 'rejected', reason: gone },
  ]);
  expect(transactions).toEqual([['a', 'b']]);
});
