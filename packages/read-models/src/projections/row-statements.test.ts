import { orNull, type Statement } from '@cardea/postgres';
import { describe, expect, it } from 'vitest';
import { rowStatements } from './row-statements.ts';
import { table } from './table.ts';

const users = table('users', {
  key: ['id'],
  columns: { id: 'text', name: orNull('text'), vouched: 'boolean' },
});
const agents = table('agents', {
  key: ['id'],
  columns: { id: 'text', services: 'jsonb', changed_at: 'timestamptz' },
  since: { changed_at: 'services' },
});
const written = (...writes: Parameters<typeof rowStatements>[1]): readonly Statement[] =>
  rowStatements({ schema: 'vault', tables: [users, agents] }, writes);
const told = (statements: readonly Statement[]) =>
  statements.map(({ text, values }) => `${text.trim().split(/\s+/, 3).join(' ')} ${values?.[0]}`);

const user = (id: string) => users.put({ id, name: null, vouched: true });
const agent = (id: string) => agents.upsert({ id, services: [], changed_at: 'now' });

describe('the rows of a batch', () => {
  it('share a statement, with an array for each column', () => {
    expect(told(written(user('a'), agent('x'), user('b')))).toEqual([
      'INSERT INTO vault.users {"a","b"}',
      'INSERT INTO vault.agents {"x"}',
    ]);
    expect(written(user('a'), user('b'))[0]?.values).toEqual([
      '{"a","b"}',
      '{NULL,NULL}',
      '{"true","true"}',
    ]);
  });

  it('are written again where one comes twice', () => {
    const ids = ['a', 'b', 'a', 'c', 'b'];
    expect(told(written(...ids.map(user)))).toEqual([
      'INSERT INTO vault.users {"a","b"}',
      'INSERT INTO vault.users {"a","c","b"}',
    ]);
  });

  it('stay before and after what else touches their table', () => {
    expect(told(written(user('a'), users.patch({ id: 'a' }, { name: 'A' }), user('b')))).toEqual([
      'INSERT INTO vault.users {"a"}',
      'UPDATE vault.users AS {"a"}',
      'INSERT INTO vault.users {"b"}',
    ]);
    expect(told(written(user('a'), { text: 'forget all' }, user('b')))).toEqual([
      'INSERT INTO vault.users {"a"}',
      'forget all undefined',
      'INSERT INTO vault.users {"b"}',
    ]);
  });

  it('share no statement where they name other columns', () => {
    const patches = [
      users.patch({ id: 'a' }, { name: 'A' }),
      users.patch({ id: 'b' }, { vouched: false }),
    ];
    expect(written(...patches)).toHaveLength(2);
  });

  it('have the name of a prepared statement, the same for the same text', () => {
    const [one, two, other] = [user('a'), user('b'), users.remove({ id: 'a' })].map(
      (write) => written(write)[0]?.name,
    );
    expect(one).toMatch(/^rows_[0-9a-f]{24}$/);
    expect(two).toBe(one);
    expect(other).not.toBe(one);
  });

  it('are refused in a table that the consumer does not name', () => {
    const others = table('others', { key: ['id'], columns: { id: 'text' } });
    expect(() => written(others.put({ id: 'a' }))).toThrow('others');
  });
});

describe('an upsert', () => {
  it('leaves what the event does not say, and gives it to a new row alone', () => {
    const fresh = { vouched: false };
    const [said] = written(users.upsert({ id: 'a', name: 'A', vouched: true }, fresh));
    expect(said?.text).toContain('"vouched" = excluded."vouched"');
    const [unsaid] = written(users.upsert({ id: 'a', name: 'A', vouched: undefined }, fresh));
    expect(unsaid?.text).toContain('"name" = excluded."name"');
    expect(unsaid?.text).not.toContain('"vouched" = excluded');
    expect(unsaid?.values).toEqual(['{"a"}', '{"A"}', '{"false"}']);
  });

  it('changes nothing of a row that is there where only a new one is to be written', () => {
    const [insert] = written(users.insert({ id: 'a', name: null, vouched: false }));
    expect(insert?.text).toContain('DO NOTHING');
    expect(insert?.values).toEqual(['{"a"}', '{NULL}', '{"false"}']);
  });

  it('leaves the time since which a column is what it is', () => {
    expect(written(agent('x'))[0]?.text).toContain(
      '"changed_at" = CASE WHEN t."services" = excluded."services" THEN t."changed_at"',
    );
  });
});
