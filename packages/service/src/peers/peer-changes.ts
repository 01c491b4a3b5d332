import type { Clock, Logger } from '@cardea/runtime';

/** Services of a deployment start at the same time, so an unavailable one causes no warning for this long. */
const START_MS_MAX = 60_000;

/** Logs when another service becomes unavailable and available, once each. */
export function peerChanges(
  peer: string,
  {
    clock,
    log,
  }: { readonly clock: Pick<Clock, 'monotonicMs'>; readonly log: Pick<Logger, 'info' | 'warn'> },
): (now: 'answers' | 'silent', cause?: unknown) => void {
  const beganMs = clock.monotonicMs();
  let before: 'unknown' | 'coming' | 'answers' | 'away' = 'unknown';
  return (seen, cause) => {
    const mayBeStarting =
      (before === 'unknown' || before === 'coming') && clock.monotonicMs() - beganMs < START_MS_MAX;
    const now = seen === 'answers' ? seen : mayBeStarting ? 'coming' : 'away';
    if (now === before) return;
    if (now === 'away') log.warn({ peer, err: cause }, 'another service does not answer');
    else if (now === 'coming') log.info({ peer }, 'another service is not there yet');
    else if (before !== 'unknown') log.info({ peer }, 'another service answers again');
    before = now;
  };
}
