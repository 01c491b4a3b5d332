/** Reads the properties of containers and images from the engine. */
import { docker, ended } from '../../scripts/containers/docker.ts';
import type { Deployment, Running } from './deployment.ts';

/** Our own containers, which the compose file confines. */
export const OURS = [
  ...['identity', 'authz', 'vault', 'approval', 'webhook-dispatcher', 'audit-projector'],
  ...['gateway', 'mailbox', 'migrate'],
];

export type Confinement = {
  readonly user: string;
  /** The groups in addition to the first one. Some engines list the first one again. */
  readonly groups: readonly string[];
  readonly capabilities: string;
  readonly noNewPrivileges: string;
  readonly isReadOnly: boolean;
  readonly memoryBytes: number;
  readonly processes: number;
};

const MIB = 1024 ** 2;

export async function confinementOf({ id }: Running): Promise<Confinement> {
  const format = '{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.Memory}} {{.HostConfig.PidsLimit}}';
  const [readOnly, memory, processes] = (await docker('inspect', '--format', format, id)).split(
    ' ',
  );
  const status = await docker('exec', id, 'cat', '/proc/1/status');
  const line = (name: string): string =>
    new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1]?.replaceAll(/\s+/g, ' ') ?? '';
  return {
    user: `${line('Uid').split(' ')[0]}:${line('Gid').split(' ')[0]}`,
    groups: line('Groups').split(' ').filter(Boolean),
    capabilities: line('CapEff'),
    noNewPrivileges: line('NoNewPrivs'),
    isReadOnly: readOnly === 'true',
    memoryBytes: Number(memory),
    processes: Number(processes),
  };
}

/** `service address:port`, sorted. */
export async function publishedPorts({ containers }: Deployment): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { id, service } of await containers()) {
    const ports = JSON.parse(
      await docker('inspect', '--format', '{{json .NetworkSettings.Ports}}', id),
    ) as { readonly [port: string]: readonly { HostIp: string; HostPort: string }[] | null };
    for (const bound of Object.values(ports)) {
      for (const { HostIp, HostPort } of bound ?? [])
        found.push(`${service} ${HostIp}:${HostPort}`);
    }
  }
  return found.toSorted();
}

/** Everything that can be read from outside a container: its settings, its arguments, its output. */
export async function visibleText({ id }: Running): Promise<string> {
  const logs = await ended('docker', ['logs', id]);
  const processes = await ended('docker', ['top', id, '-eo', 'pid,args']);
  return [await docker('inspect', id), logs.stdout, logs.stderr, processes.stdout].join('\n');
}

export async function sizeOf(image: string): Promise<number> {
  return Number(await docker('image', 'inspect', '--format', '{{.Size}}', image)) / MIB;
}

/** Returns those of `paths` that exist in an image. */
export async function existingIn(
  image: string,
  paths: readonly string[],
): Promise<readonly string[]> {
  const look =
    'for each; do if [ -e "$each" ] || command -v "$each" >/dev/null; then echo "$each"; fi; done';
  const found = await docker(
    'run',
    '--rm',
    '--entrypoint',
    'sh',
    image,
    '-c',
    look,
    'sh',
    ...paths,
  );
  return found.split('\n').filter(Boolean);
}

/** The memory of a container without file caches, and the processor time that it has used. */
export async function usageOf({ id }: Running): Promise<{
  readonly anonymousMib: number;
  readonly cpuSeconds: number;
}> {
  const read =
    'cat /sys/fs/cgroup/memory.stat 2>/dev/null || cat /sys/fs/cgroup/memory/memory.stat';
  const memory = await docker('exec', id, 'sh', '-c', read);
  const cpu = await docker(
    ...['exec', id, 'sh', '-c'],
    'grep usage_usec /sys/fs/cgroup/cpu.stat 2>/dev/null || cat /sys/fs/cgroup/cpuacct/cpuacct.usage',
  );
  const bytes = Number(/^(?:anon|total_rss) (\d+)$/m.exec(memory)?.[1]);
  const micro = /^usage_usec (\d+)/.exec(cpu)?.[1];
  const cpuSeconds = micro === undefined ? Number(cpu) / 1e9 : Number(micro) / 1e6;
  return { anonymousMib: bytes / MIB, cpuSeconds };
}
