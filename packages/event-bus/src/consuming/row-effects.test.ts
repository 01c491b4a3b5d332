import { describe, expect, it } from 'vitest';
import { inFewStatements, type RowWriter } from './row-effects.ts';

const KEEP: RowWriter = { name: 'keep', table: 'users', text: 'keep' };
const END: RowWriter = { name: 'end', table: 'users', text: 'end' };
const KEEP_AGENT: RowWriter = { name: 'keep_agent', table: 'agents', text: 'keep agent' };
const effect = (write: RowWriter, id: string) => ({ write, key: ['t', id], row: ['t', id] });

const told = (statements: ReturnType<typeof inFewStatements>) =>
  statements.map(({ text, values }) => `${text} ${JSON.stringify(values ?? [])}`);

describe('the rows of a batch', () => {
  it('share a statement, with an array for each parameter', () => {
    const effects = [effect(KEEP, 'a'), effect(KEEP_AGENT, 'x'), effect(KEEP, 'b')];
    expect(told(inFewStatements(effects))).toEqual([
      'keep [["t","t"],["a","b"]]',
      'keep agent [["t"],["x"]]',
    ]);
  });

  it('are written again where one comes twice', () => {
    const effects = ['a', 'b', 'a', 'c', 'b'].map((id) => effect(KEEP, id));
    expect(told(inFewStatements(effects))).toEqual([
      'keep [["t","t"],["a","b"]]',
      'keep [["t","t","t"],["a","c","b"]]',
    ]);
  });

  it('stay before and after what else touches their table', () => {
    const effects = [effect(KEEP, 'a'), effect(END, 'a'), effect(KEEP, 'b')];
    expect(told(inFewStatements(effects))).toEqual([
      'keep [["t"],["a"]]',
      'end [["t"],["a"]]',
      'keep [["t"],["b"]]',
    ]);
    const forget = { text: 'forget' };
    expect(told(inFewStatements([effect(KEEP, 'a'), forget, effect(KEEP, 'b')]))).toEqual([
      'keep [["t"],["a"]]',
      'forget []',
      'keep [["t"],["b"]]',
    ]);
  });
});
