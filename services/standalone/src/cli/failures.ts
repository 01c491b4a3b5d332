/** The three kinds of failure of a command of `cardea`, each with its own exit code. */
import type { SettingFault } from '@cardea/runtime';

/** Exit code 2. The message quotes nothing that was typed, because it may have been a secret. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}

/** Exit code 1: the command was understood and could not be carried out. Programs distinguish reasons by the code. */
export class NotDone extends Error {
  override readonly name = 'NotDone';
  readonly code: string | undefined;
  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

/** Exit code 78. */
export class WrongConfiguration extends Error {
  override readonly name = 'WrongConfiguration';
  readonly faults: readonly SettingFault[];
  readonly code: string | undefined;
  constructor(message: string, faults: readonly SettingFault[] = [], code?: string) {
    super(message);
    this.faults = faults;
    this.code = code;
  }
}
