/** Tests that a contract has few enough fields to be learnt in one reading. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CLIENT_NAMES } from '../packages/http/src/openapi/client-names.ts';
import { product } from './gateway/files.ts';

const FIELDS_MAX = 22;
const source = readFileSync('packages/http/src/contract/contract.ts', 'utf8');
/** The fields of the type, without the members of those that are objects. */
const contract = /export type Contract<[\s\S]*?\n> = \{\n([\s\S]*?)\n\};/.exec(source)?.[1] ?? '';
const fields = [...contract.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name = '']) => name);

describe('a contract', () => {
  it(`has at most ${FIELDS_MAX} fields: one that is of the same matter as another joins it`, () => {
    expect(fields).toEqual(expect.arrayContaining(['name', 'who', 'response', 'repeat']));
    expect(fields.length).toBeLessThanOrEqual(FIELDS_MAX);
  });

  it('has no field that no endpoint states', async () => {
    const { common, services } = await product();
    const stated = new Set(
      [...common, ...services.flatMap(({ endpoints }) => endpoints)].flatMap((endpoint) =>
        Object.keys(endpoint.contract),
      ),
    );
    expect(fields.filter((name) => !stated.has(name))).toEqual([]);
    expect([...stated].filter((name) => !fields.includes(name))).toEqual([]);
  });

  it('has another name in generated clients only if there is such a contract', async () => {
    const { common, services } = await product();
    const names = [...common, ...services.flatMap(({ endpoints }) => endpoints)].map(
      (endpoint) => endpoint.contract.name,
    );
    expect(Object.keys(CLIENT_NAMES).filter((name) => !names.includes(name))).toEqual([]);
  });
});
