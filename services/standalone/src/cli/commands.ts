/** All commands, in the order of the help. */
import type { Command } from './command.ts';
import { backup, restore } from './commands/backup.ts';
import { configCheck, configList } from './commands/config.ts';
import { doctor } from './commands/doctor.ts';
import { keysRewrap, keysRotateDek } from './commands/encryption-keys.ts';
import { derivedEnvironment, newEnvironment } from './commands/env.ts';
import { eventsRead, eventsTail } from './commands/events.ts';
import { exec } from './commands/exec.ts';
import { keysRotate, keysStatus } from './commands/keys.ts';
import { logLevel } from './commands/log-level.ts';
import { loginsCreate, loginsRedis } from './commands/logins.ts';
import { mailbox } from './commands/mailbox.ts';
import { migrateCommand } from './commands/migrate.ts';
import { modelImport } from './commands/model-import.ts';
import { parkedDiscard, parkedList, parkedRelease, parkedShow } from './commands/parked.ts';
import { projectionsRebuild, projectionsStatus } from './commands/projections.ts';
import { relayReplay } from './commands/relay-replay.ts';
import { relayStatus } from './commands/relay-status.ts';
import { topicsCheck, topicsCreate } from './commands/topics.ts';
import { usersCreateAdmin } from './commands/users.ts';
import { usersImport } from './commands/users-import.ts';
import { webhooksReplay } from './commands/webhooks-replay.ts';

export const commands: readonly Command[] = [
  doctor,
  configCheck,
  configList,
  derivedEnvironment,
  newEnvironment,
  migrateCommand,
  topicsCreate,
  topicsCheck,
  loginsCreate,
  loginsRedis,
  projectionsStatus,
  projectionsRebuild,
  parkedList,
  parkedShow,
  parkedRelease,
  parkedDiscard,
  relayStatus,
  relayReplay,
  webhooksReplay,
  eventsRead,
  eventsTail,
  keysStatus,
  keysRotate,
  keysRewrap,
  keysRotateDek,
  usersCreateAdmin,
  usersImport,
  modelImport,
  logLevel,
  mailbox,
  backup,
  restore,
  exec,
];
