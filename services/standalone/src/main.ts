/**
 * `npm start`: everything in one process. Only this file reads `process.env`. The server's code is loaded after the
 * settings were checked, so that a wrong setting is reported at once.
 */
import { type AddressInfo, createServer, type Server } from 'node:net';
import { availableParallelism } from 'node:os';
import { formatFaults, hookImports, takeSettings } from '@cardea/runtime';
import packageJson from '../package.json' with { type: 'json' };
import { FolderInUse, FolderNotUsable, type Generated, openDataFolder } from './data-folder.ts';
import { type Options, readOptions, USAGE } from './options.ts';

const EXIT_USAGE = 2;
const EXIT_CONFIGURATION = 78;
const { version } = packageJson;
let stopDatabase: (() => void) | undefined;

const options = readOptions(process.argv.slice(2));
if ('wrong' in options) fail(`${options.wrong}\n\n${USAGE}`, EXIT_USAGE);
else if (options.help) process.stdout.write(USAGE);
else await run(options);

async function run(given: Options): Promise<void> {
  try {
    await start(given);
  } catch (error) {
    for (const refusal of [FolderInUse, FolderNotUsable]) {
      if (error instanceof refusal) return fail(error.message, EXIT_CONFIGURATION);
    }
    throw error;
  }
}

async function start(given: Options): Promise<void> {
  const folder = openDataFolder(
    given.temp ? 'temporary' : { path: given.data ?? process.env['CARDEA_DATA'] ?? '.cardea' },
  );
  process.once('exit', () => {
    stopDatabase?.();
    folder.release();
  });
  const ownPassword = fillIn(process.env, folder.generated);
  await choosePorts(process.env, given);
  const read = takeSettings(process.env, { standalone: true, cpus: availableParallelism() });
  if ('faults' in read) return fail(formatFaults(read.faults), EXIT_CONFIGURATION);
  await hookImports(process.env);
  const { serveFrom } = await import('./serving.ts');
  const refused = await serveFrom({
    folder,
    settings: { ...read.ok, CARDEA_DATA: folder.path },
    version,
    ownPassword,
    sharesDevelopment: given.shareDevMailbox,
    onDatabase: (stop) => {
      stopDatabase = stop;
    },
    print: (text) => process.stdout.write(text),
    exit: (code) => process.exit(code),
  });
  if (refused !== undefined) fail(refused, EXIT_CONFIGURATION);
}

/** Fills in values that the environment lacks from the folder. Returns true if that includes the admin's password. */
function fillIn(env: NodeJS.ProcessEnv, generated: Generated): boolean {
  for (const name of ['JWT_SECRET', 'ENCRYPTION_KEY'] as const) {
    if (!env[name] && !env[`${name}_FILE`]) env[name] = generated[name];
  }
  if (env['ADMIN_EMAIL']) return false;
  env['ADMIN_EMAIL'] = generated.ADMIN_EMAIL;
  if (env['ADMIN_PASSWORD'] || env['ADMIN_PASSWORD_FILE']) return false;
  env['ADMIN_PASSWORD'] = generated.ADMIN_PASSWORD;
  return true;
}

/** A temporary instance must not collide with another one, so it uses free ports unless ports are named. */
async function choosePorts(env: NodeJS.ProcessEnv, { port, temp }: Options): Promise<void> {
  if (port !== undefined) env['PORT'] = String(port);
  if (!temp) return;
  // Each port stays open until all are found, so that they differ.
  const held: Server[] = [];
  for (const name of ['PORT', 'MANAGEMENT_PORT']) {
    if (env[name]) continue;
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    held.push(server);
    env[name] = String((server.address() as AddressInfo).port);
  }
  for (const server of held) await new Promise((resolve) => server.close(resolve));
}

function fail(message: string, code: number): never {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}
