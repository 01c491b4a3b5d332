import { execFileSync } from 'node:child_process';
import { LocalPostgresError } from './local-postgres-error.ts';

/** The OS user that runs the server. Undefined means our own user. PostgreSQL refuses to run as root. */
export type OsUser = { readonly uid: number; readonly gid: number };

const NAME = 'postgres';

/**
 * The user who runs the server. Root uses `postgres`, and creates it if it is missing. All others run it themselves.
 */
export function osUserForServer(): OsUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  return lookUp() ?? create();
}

function lookUp(): OsUser | undefined {
  try {
    return { uid: numberFrom('-u'), gid: numberFrom('-g') };
  } catch {
    return undefined;
  }
}

function numberFrom(flag: '-u' | '-g'): number {
  const text = execFileSync('id', [flag, NAME], { stdio: ['ignore', 'pipe', 'ignore'] });
  return Number.parseInt(text.toString(), 10);
}

function create(): OsUser {
  try {
    execFileSync('groupadd', ['--force', '--system', NAME], { stdio: 'ignore' });
    execFileSync('useradd', ['--system', '--no-create-home', '-g', NAME, NAME], {
      stdio: 'ignore',
    });
  } catch {
    // Two starts may both find no user. The slower one finds the user now.
  }
  const user = lookUp();
  if (user === undefined) {
    throw new LocalPostgresError(
      'no_os_user',
      `PostgreSQL does not run as root, and the user ${NAME} could not be created. Start as another user, or create it.`,
    );
  }
  return user;
}
