import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** The least of what the machine has, the container allows and V8 takes. */
export const usableBytes = (): number =>
  Math.min(totalmem(), process.constrainedMemory(), getHeapStatistics().heap_size_limit);
