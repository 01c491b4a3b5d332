import { inProcessCache, systemClock } from '../src/index.ts';
import { describeCache } from './cache-conformance.ts';

describeCache('in process', () => {
  const cache = inProcessCache(systemClock);
  return { open: () => cache };
});
