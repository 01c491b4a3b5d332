import type { OtherListeners } from './process-session.ts';

/**
 * Notices that only other processes need. None is sent while no other process listens. A process that begins to listen
 * receives the withheld notices at once.
 */
export type SparedNotices = {
  /** Whether the next statement has to contain its notice. */
  areDue(): boolean;
  /** Call it after a commit that concerns `subject`. `told` is true if the commit contained its notice. */
  committed(subject: string, told: boolean): void;
  end(): void;
};

/** `tell` sends a notice for each subject in a separate statement. */
export function sparedNotices(
  others: OtherListeners,
  tell: (subjects: readonly string[]) => Promise<void>,
): SparedNotices {
  const silent = new Set<string>();
  const tellAll = async (): Promise<void> => {
    const subjects = [...silent];
    silent.clear();
    try {
      await tell(subjects);
    } catch {
      // The next commit tries again.
      for (const subject of subjects) silent.add(subject);
    }
  };
  const end = others.onHeard(() => {
    if (silent.size > 0) void tellAll();
  });
  return {
    areDue: others.arePossible,
    committed: (subject, told) => {
      if (!told) silent.add(subject);
      // Other processes may have appeared between the statement and its commit.
      if (silent.size > 0 && others.arePossible()) void tellAll();
    },
    end,
  };
}
