import { setTimeout as pause } from 'node:timers/promises';
import { Outage } from './outage.ts';

/**
 * A named point at which tests break the process. It does nothing in a process that was started without fail points.
 */
export type FailPoint = {
  readonly name: string;
  readonly action: 'kill' | 'throw' | 'pause' | 'delay';
  readonly delayMs: number;
  /** Acts only at this pass, counted from 1. Undefined means at every pass. */
  readonly at: number | undefined;
};

type Armed = FailPoint & { passes: number };
const armed = new Map<string, Armed>();

const FORM = /^([a-z_.]+)=(kill|throw|pause|delay:(\d{1,6}))(?:@(\d{1,9}))?$/;

/**
 * Parses `name=kill|throw|pause|delay:ms`, each optionally with `@n`, separated by commas. Undefined for another form.
 */
export function parseFailPoints(text: string): readonly FailPoint[] | undefined {
  const points = text.split(',').map((each): FailPoint | undefined => {
    const found = FORM.exec(each.trim());
    if (found === null) return undefined;
    const [, name = '', action = '', delayMs = '0', at] = found;
    return {
      name,
      action: action.split(':')[0] as FailPoint['action'],
      delayMs: Number(delayMs),
      at: at === undefined ? undefined : Number(at),
    };
  });
  return points.every((each) => each !== undefined) ? points : undefined;
}

/** Replaces the armed fail points. An empty list disarms all. */
export function armFailPoints(points: readonly FailPoint[]): void {
  armed.clear();
  for (const point of points) armed.set(point.name, { ...point, passes: 0 });
}

/** Every pass must be awaited: `await failpoint('relay.after_publish')`. */
export function failpoint(name: string): Promise<void> | undefined {
  if (armed.size === 0) return undefined;
  const point = armed.get(name);
  if (point === undefined) return undefined;
  point.passes += 1;
  if (point.at !== undefined && point.at !== point.passes) return undefined;
  switch (point.action) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => {});
    case 'pause':
      process.kill(process.pid, 'SIGSTOP');
      return undefined;
    case 'delay':
      return pause(point.delayMs);
    case 'throw':
      throw new FailPointReached(name);
  }
}

export class FailPointReached extends Outage {
  override readonly name = 'FailPointReached';
  constructor(point: string) {
    super(`Fail point ${point} was reached.`);
  }
}
