import { describe, expect, it } from 'vitest';
import { DENIALS_PER_MINUTE, type Denial, DenialDesk, isRecorded } from './denials.ts';
import type { Contract } from './endpoint.ts';

const MINUTE_MS = 60_000;
const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet };

function desk(record: (denial: Denial) => Promise<void>) {
  const time = { ms: 0, slept: [] as number[] };
  const clock = {
    now: () => new Date(time.ms),
    monotonicMs: () => time.ms,
    sleep: async (ms: number) => void time.slept.push(ms),
    after: () => () => {},
  };
  return { desk: new DenialDesk({ record }, clock, quiet), time };
}
const denial = (more: Partial<Denial> = {}): Denial =>
  ({
    principal: { kind: 'user', id: 'u1', tenantId: 't1' },
    area: 'admin',
    operation: 'list_users',
    reason: 'forbidden',
    status: 403,
    target: null,
    count: 1,
    ...more,
  }) as Denial;

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
    expect(isRecorded(contract({ recordsItsRefusals: true }), refusal(403))).toBe(false);
    const some = contract({ recordsItsRefusals: ['gone'] });
    expect(isRecorded(some, refusal(410, 'gone'))).toBe(false);
    expect(isRecorded(some, refusal(403, 'forbidden'))).toBe(true);
  });
  it('is waited for a quarter of a second, and recorded behind the answer', async () => {
    let land = () => {};
    const landed: Denial[] = [];
    const { desk: at, time } = desk(
      (one) =>
        new Promise((resolve) => {
          land = () => {
            landed.push(one);
            resolve();
          };
        }),
    );
    await at.record(denial());
    expect(time.slept).toEqual([250]);
    expect(landed).toHaveLength(0);
    land();
    expect(landed).toHaveLength(1);
  });
  it('never fails the answer', async () => {
    const { desk: at } = desk(() => Promise.reject(new Error('away')));
    await expect(at.record(denial())).resolves.toBeUndefined();
  });
  it('is folded with its like above 60 in a minute, and loses none of the count', async () => {
    const got: Denial[] = [];
    const { desk: at, time } = desk(async (one) => void got.push(one));
    for (let n = 0; n < DENIALS_PER_MINUTE + 40; n += 1) {
      await at.record(denial({ reason: n % 4 === 0 ? 'forbidden' : 'insufficient_scope' }));
    }
    await at.record(denial({ principal: { ...denial().principal, id: 'u2' } }));
    expect(got).toHaveLength(DENIALS_PER_MINUTE + 1);
    await at.flush();
    expect(got).toHaveLength(DENIALS_PER_MINUTE + 1);
    time.ms += MINUTE_MS;
    await at.flush();
    const folded = got.slice(DENIALS_PER_MINUTE + 1);
    expect(folded.map(({ reason, count }) => [reason, count])).toEqual([
      ['forbidden', 10],
      ['insufficient_scope', 30],
    ]);
    await at.record(denial());
    expect(got.at(-1)?.count).toBe(1);
  });
});
