/** Reports that this version cannot verify the audit log; the help does not list it. */
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
