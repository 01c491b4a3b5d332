/** Restarts containers: on request, one replica after another, or by killing them. */
import { testForm, untilTrue } from '@cardea/testing';
import { docker } from '../../scripts/containers/docker.ts';
import { SERVICES } from '../deploy/rules/rule.ts';
import type { Deployment, Running } from './deployment.ts';

/** How often each service is restarted. Each time, all of its replicas are restarted. */
const ROLLING_RESTARTS = testForm.long ? 20 : 2;
/** The number of services that are restarted at the same time. Each of them always has one running replica. */
const SERVICES_AT_ONCE = 3;
const RESTART_MS_MAX = 120_000;
export const ROLLING_RESTARTS_MS_MAX = SERVICES.length * ROLLING_RESTARTS * RESTART_MS_MAX;

/** Restarts for this many times, or as long as the run was given. Returns the number of restarted replicas. */
export async function rollingRestarts(deployed: Deployment): Promise<number> {
  const endMs = performance.now() + (testForm.minutes ?? Infinity) * 60_000;
  let restarts = 0;
  const restartReplicas = async (service: string): Promise<void> => {
    for (const { id } of await deployed.containers(service)) {
      if (performance.now() >= endMs) return;
      await docker('restart', '--time', '30', id);
      await deployed.untilHealthy(service);
      restarts += 1;
    }
  };
  const restartInTurn = async (services: readonly string[]): Promise<void> => {
    for (let round = 0; round < ROLLING_RESTARTS; round++) {
      for (const service of services) await restartReplicas(service);
    }
  };
  const lanes = Array.from({ length: SERVICES_AT_ONCE }, (_, lane) =>
    restartInTurn(SERVICES.filter((_service, at) => at % SERVICES_AT_ONCE === lane)),
  );
  await Promise.all(lanes);
  return restarts;
}

/** Kills the process itself, so that the engine treats its end as a crash and restarts it. */
export async function killAndWait(deployed: Deployment, { id, service }: Running): Promise<void> {
  const pid = Number(await docker('inspect', '--format', '{{.State.Pid}}', id));
  const restarts = async () => Number(await docker('inspect', '--format', '{{.RestartCount}}', id));
  const before = await restarts();
  process.kill(pid, 'SIGKILL');
  await untilTrue(async () => (await restarts()) > before, { what: `${service} starts again` });
  await deployed.untilHealthy(service);
}
