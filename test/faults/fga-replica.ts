/** One authz replica in a separate process, which reaches PostgreSQL through a separate proxy. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { programOf, restDriver, type TcpProxy, tcpProxy } from '@cardea/testing';
import { onTestFinished } from 'vitest';
import { fgaClient } from '../../services/authz/test/fga-client.ts';

export type FgaReplica = {
  readonly fga: ReturnType<typeof fgaClient>;
  readonly managementUrl: string;
  readonly proxy: TcpProxy;
  readonly signal: (name: NodeJS.Signals) => void;
  readonly stepWallClock: (ms: number) => void;
  readonly kill: () => Promise<void>;
};

export type ReplicaSetting = {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly tenantId: string;
};

const POSTGRES_PORT = 5432;

/** The replica ends with the test that started it. */
export async function startFgaReplica(setting: ReplicaSetting): Promise<FgaReplica> {
  const database = new URL(setting.databaseUrl);
  const proxy = await tcpProxy({ port: Number(database.port || POSTGRES_PORT) });
  database.host = `127.0.0.1:${proxy.port}`;
  const script = programOf(new URL('fga-replica.process.ts', import.meta.url));
  const args = [database.href, setting.tenantId, setting.redisUrl];
  const child: ChildProcess = fork(script, args, { stdio: ['ignore', 2, 2, 'ipc'] });
  const gone = once(child, 'exit');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
    await proxy.close();
  };
  onTestFinished(kill);
  const early = gone.then(() => {
    throw new Error('the replica ended before it listened');
  });
  early.catch(() => undefined);
  const [{ baseUrl, managementUrl, key }] = await Promise.race([once(child, 'message'), early]);
  const caller = { bearer: key, tenant: setting.tenantId };
  return {
    fga: fgaClient(restDriver({ baseUrl, caller })),
    managementUrl,
    proxy,
    signal: (name) => child.kill(name),
    stepWallClock: (stepMs) => child.send({ stepMs }),
    kill,
  };
}
