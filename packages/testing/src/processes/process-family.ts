/** Finds the processes that a process has started, in Linux's `/proc`. */
import { readdirSync, readFileSync } from 'node:fs';

/** Their folders below `/proc`; none once the process has ended. */
export const threadsOf = (pid: number): readonly string[] => {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`);
  } catch {
    return [];
  }
};

export const childrenOf = (pid: number): readonly number[] =>
  threadsOf(pid).flatMap((thread) =>
    procText(`${thread}/children`)
      .split(' ')
      .filter((child) => child.trim() !== '')
      .map(Number),
  );

/** Its children and theirs, without itself. */
export const descendantsOf = (pid: number): readonly number[] =>
  childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);

/** Empty where the process has ended meanwhile. */
export function procText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
