export type { Cache, Clock, Ids, Logger, Loops, LoopWatch, Random } from './ports.ts';
export { CacheUnavailable } from './ports.ts';
export type { Secret, Settings } from './settings.ts';
