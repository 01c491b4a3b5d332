import { Outage } from '@cardea/runtime';

/**
 * Limits the wait for a promise of the Kafka driver, which may stay pending for as long as no broker
 * answers. The work itself continues.
 */
export const bounded = async <T>(work: Promise<T>, ms: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new KafkaUnavailable()), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Waits while a connection closes, which may be abandoned. Returns immediately if no broker responds. */
export const boundedEnd = async (end: Promise<void>, isAway = false): Promise<void> => {
  await bounded(end, isAway ? AWAY_END_MS_MAX : END_MS_MAX).catch(() => {});
};

/** No broker answered in time. */
export class KafkaUnavailable extends Outage {
  override readonly name = 'KafkaUnavailable';
  constructor() {
    super('no broker answered in time');
  }
}

const END_MS_MAX = 5000;
const AWAY_END_MS_MAX = 200;
