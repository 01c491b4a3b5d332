/**
 * The memory of a process without its garbage. While a process has nothing to do, V8 collects nothing, so its memory
 * tells how busy it was and not what it keeps.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { FixtureProcess } from '@cardea/testing';

/** Environment of a process whose memory is measured. */
export const INSPECTED = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };
const LISTENS = /Debugger listening on (ws:\S+)/;

/**
 * Call it when the process has just begun. The result collects the garbage of the process, and returns the KiB that it
 * then has in memory.
 */
export async function collectedMemory(inspected: FixtureProcess): Promise<() => Promise<number>> {
  const [, url = ''] = await inspected.seen(LISTENS);
  return async () => {
    const socket = new WebSocket(url);
    await once(socket, 'open');
    socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }));
    await once(socket, 'message');
    socket.close();
    const status = readFileSync(`/proc/${inspected.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
  };
}
