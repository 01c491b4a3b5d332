import { Outage } from '@cardea/runtime';

/**
 * What Kafka's driver promises may stay open for as long as no broker answers; whoever waits for it
 * waits this long. The work itself goes on.
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

/** For the end of a connection: it is gone either way, and at once where no broker answers. */
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
