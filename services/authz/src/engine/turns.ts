import type { Clock } from '@cardea/runtime';

/**
 * Turns for work that takes long: so much at once, and so much that waits; of one tenant less than of all, so
 * that a tenant whose questions are large keeps no other from asking.
 */
export type TurnLimits = {
  readonly atOnce: number;
  readonly atOnceOfTenant: number;
  readonly waiting: number;
  readonly waitingOfTenant: number;
  /** Work that has not begun after so long is refused. */
  readonly waitMs: number;
};

/** `overloaded` where the work was not begun, because too much waits already or it has waited too long. */
export type Turns = <T>(tenantId: string, work: () => Promise<T>) => Promise<T | 'overloaded'>;

type Waiting = { readonly tenantId: string; readonly start: () => void };

export function turns(limits: TurnLimits, clock: Pick<Clock, 'after'>): Turns {
  const running = new Map<string, number>();
  let count = 0;
  const waiting: Waiting[] = [];
  const runningOf = (tenantId: string): number => running.get(tenantId) ?? 0;
  const mayRun = (tenantId: string): boolean =>
    count < limits.atOnce && runningOf(tenantId) < limits.atOnceOfTenant;
  const begin = (tenantId: string): void => {
    count += 1;
    running.set(tenantId, runningOf(tenantId) + 1);
  };
  const end = (tenantId: string): void => {
    count -= 1;
    const left = runningOf(tenantId) - 1;
    if (left === 0) running.delete(tenantId);
    else running.set(tenantId, left);
    // The first whose tenant may have one more.
    const next = waiting.findIndex((each) => mayRun(each.tenantId));
    if (next === -1) return;
    const [found] = waiting.splice(next, 1);
    if (found === undefined) return;
    begin(found.tenantId);
    found.start();
  };
  /** False where the time is over first. */
  const itsTurn = (tenantId: string): Promise<boolean> =>
    new Promise((resolve) => {
      const cancel = clock.after(limits.waitMs, () => {
        waiting.splice(waiting.indexOf(one), 1);
        resolve(false);
      });
      const start = (): void => {
        cancel();
        resolve(true);
      };
      const one = { tenantId, start };
      waiting.push(one);
    });
  return async (tenantId, work) => {
    if (mayRun(tenantId)) begin(tenantId);
    else {
      const own = waiting.filter((each) => each.tenantId === tenantId).length;
      if (waiting.length >= limits.waiting || own >= limits.waitingOfTenant) return 'overloaded';
      if (!(await itsTurn(tenantId))) return 'overloaded';
    }
    try {
      return await work();
    } finally {
      end(tenantId);
    }
  };
}
