/** Finds the processes that a process has started, in Linux's `/proc`. */
import { readdirSync, readFileSync } from 'node:fs';

/** The folders of its threads below `/proc`. Empty after the process has ended. */
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

/** Its children and their descendants, without itself. */
export const descendantsOf = (pid: number): readonly number[] =>
  childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);

/** Empty if the process has ended in between. */
export function procText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
