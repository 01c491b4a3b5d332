/** Processor time of processes and of all that they started, as Linux counts it. */
import { childrenOf, procText, threadsOf } from '@cardea/testing';

const MS_PER_TICK = 10;
const NS_PER_MS = 1e6;
/** `cutime` and `cstime` of `/proc/<pid>/stat`, counted after the program's name in parentheses. */
const ENDED_CHILDREN_USER = 13;
const ENDED_CHILDREN_SYSTEM = 14;

/** The time of all threads, in milliseconds; 0 once the process has ended. */
export const processorMs = (pid: number): number =>
  threadsOf(pid).reduce((sum, thread) => sum + threadMs(thread), 0);

const threadMs = (thread: string): number =>
  Number(procText(`${thread}/schedstat`).split(' ')[0]) / NS_PER_MS;

/** The time of Node's thread pool, where passwords are hashed; hardly anything else runs there. */
export const poolThreadsMs = (pid: number): number =>
  threadsOf(pid)
    .filter((thread) => procText(`${thread}/comm`).trim() === 'libuv-worker')
    .reduce((sum, thread) => sum + threadMs(thread), 0);

/** The time of the process and its descendants, also of those that ended: PostgreSQL and nginx work in children. */
export function familyMs(pid: number): number {
  const fields = procText(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  const ended =
    Number(fields[ENDED_CHILDREN_USER] ?? 0) + Number(fields[ENDED_CHILDREN_SYSTEM] ?? 0);
  return childrenOf(pid).reduce(
    (sum, child) => sum + familyMs(child),
    processorMs(pid) + ended * MS_PER_TICK,
  );
}
