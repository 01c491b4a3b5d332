/** Honest about what this version cannot do; the help does not name it. */
import type { Command } from '../command.ts';
import { NotDone } from '../failures.ts';

export const auditVerify: Command = {
  name: 'audit verify',
  summary: 'Would verify the audit log against its signed checkpoints.',
  hidden: true,
  run: async () => {
    throw new NotDone(
      'this version signs no checkpoints of the audit log, so there is nothing to verify it against',
    );
  },
};
