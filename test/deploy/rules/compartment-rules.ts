/** Rules for the contents of a service's container: its own secrets and logins, and no others. */
import { deploymentsOf, podOf } from './kubernetes-rules.ts';
import type { Manifests } from './manifests.ts';
import type { Rule } from './rule.ts';

const IN_MEMORY = 'Memory';

/**
 * An init container derives them into memory. The service has only that folder, where the other containers have the
 * secrets of the deployment.
 */
export const givesEachServiceItsOwn: Rule<Manifests> = (subject) =>
  deploymentsOf(subject)
    .filter(({ metadata }) => metadata.name !== 'gateway')
    .flatMap((document) => {
      const { name } = document.metadata;
      const { initContainers = [], containers, volumes = [] } = podOf(document);
      const derived = `node src/cardea.ts env derive --service ${name} --out /run/secrets/own`;
      const deriving = initContainers.at(-1);
      const own = volumes.find((volume) => volume.emptyDir?.medium === IN_MEMORY)?.name;
      const deployment = new Set(
        volumes
          .filter(({ secret }) => /^cardea-(secrets|migration)$/.test(secret?.secretName ?? ''))
          .map((each) => each.name),
      );
      const held = containers.flatMap(({ volumeMounts = [] }) => volumeMounts);
      const mounts = deriving?.volumeMounts ?? [];
      return [
        ...(deriving?.command?.join(' ') === derived ? [] : [`${name} derives nothing of its own`]),
        ...(mounts.some((each) => each.name === own && each.mountPath === '/run/secrets/own')
          ? []
          : [`what ${name} derives is kept elsewhere`]),
        ...(held.some((each) => each.name === own && each.mountPath === '/run/secrets/cardea')
          ? []
          : [`${name} has not what was derived for it`]),
        ...held
          .filter((each) => deployment.has(each.name))
          .map(() => `${name} has everybody's secrets`),
      ];
    });
