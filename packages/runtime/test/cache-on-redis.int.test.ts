import { silentLogger, testRedis } from '@cardea/testing';
import { redisCache, systemClock } from '../src/index.ts';
import { describeCache } from './cache-conformance.ts';

const redis = testRedis();
let test = 0;

describeCache('Redis', () => {
  test += 1;
  const keyPrefix = `${redis.keyPrefix}${test}:`;
  return {
    open: () => redisCache({ url: redis.url, clock: systemClock, log: silentLogger, keyPrefix }),
  };
});
