import { describe, expect, it } from 'vitest';
import type { Contract } from '../contract/contract.ts';
import { isRecorded } from './denials.ts';

const contract = (more: object = {}) => ({ method: 'post', ...more }) as unknown as Contract;
const refusal = (status: number, code = 'x') => ({ status, code, message: '' });

describe('a refusal of a known caller', () => {
  it.each([
    [401, 'get', true],
    [403, 'get', true],
    [409, 'get', false],
    [409, 'post', true],
    [410, 'delete', true],
    [422, 'post', true],
    [429, 'post', true],
    [400, 'post', false],
    [404, 'post', false],
    [413, 'post', false],
    [415, 'post', false],
    [500, 'post', false],
  ])('with %i on a %s is recorded: %s', (status, method, wanted) => {
    expect(isRecorded(contract({ method }), refusal(status))).toBe(wanted);
  });
  it('is not recorded where the endpoint keeps it itself', () => {
    const some = contract({ recordsItsRefusals: ['gone'] });
    expect(isRecorded(some, refusal(410, 'gone'))).toBe(false);
    expect(isRecorded(some, refusal(403, 'forbidden'))).toBe(true);
  });
});
