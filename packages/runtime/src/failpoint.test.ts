import { afterEach, describe, expect, it } from 'vitest';
import { armFailPoints, FailPointReached, failpoint, parseFailPoints } from './failpoint.ts';

afterEach(() => armFailPoints([]));

describe('a fail point', () => {
  it('does nothing unless it is armed', () => {
    expect(failpoint('relay.after_read')).toBeUndefined();
  });

  it('strikes at the pass that was named', () => {
    armFailPoints(parseFailPoints('relay.after_read=throw@2,append.before_commit=delay:1') ?? []);
    expect(failpoint('relay.after_read')).toBeUndefined();
    expect(() => failpoint('relay.after_read')).toThrow(FailPointReached);
    expect(failpoint('relay.after_read')).toBeUndefined();
    expect(failpoint('append.before_commit')).toBeInstanceOf(Promise);
  });

  it('of another form is refused', () => {
    for (const text of ['', 'x', 'x=y', 'x=delay', 'x=kill@', 'x=kill;y=kill']) {
      expect(parseFailPoints(text)).toBeUndefined();
    }
  });
});
