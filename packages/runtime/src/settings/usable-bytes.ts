import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** The minimum of the machine's memory, the container's limit and V8's limit. */
export const usableBytes = (): number =>
  Math.min(totalmem(), process.constrainedMemory(), getHeapStatistics().heap_size_limit);
