/** Registered services with their secrets, encrypted under a key per tenant. */
import { wrapKeys } from '@cardea/crypto';
import type { Module, ServiceDependencies } from '@cardea/service';
import { type DataKeys, dataKeys } from '../adapters/data-keys.ts';
import { type SecretStore, secretStore } from '../adapters/secret-store.ts';
import type { Epochs } from '../epochs.ts';
import { type Catalog, catalog, names } from './catalog.ts';
import { changeServiceRoute } from './change/change.route.ts';
import { deleteServiceRoute } from './delete/delete.route.ts';
import { destroyVersionRoute } from './destroy-version/destroy-version.route.ts';
import { getServiceRoute, listServicesRoute } from './list/list.route.ts';
import { listVersionsRoute } from './list-versions/list-versions.route.ts';
import { promoteRoute } from './promote/promote.route.ts';
import { registerServiceRoute } from './register/register.route.ts';
import { servicesRelay } from './relay.ts';
import { revealRoute } from './reveal/reveal.route.ts';
import { rollBackRoute } from './roll-back/roll-back.route.ts';
import { keyRotation } from './rotate-keys.ts';
import { services } from './service.ts';
import { servicesProjection } from './services.projection.ts';
import { shredTenant } from './shred-tenant.ts';
import { sweepSecrets } from './sweep-secrets.ts';
import { writeSecretsRoute } from './write-secrets/write-secrets.route.ts';

export type { Catalog } from './catalog.ts';
export { destroyErased } from './destroy-erased.ts';
export { revealableServices } from './revealing.ts';
export { rotateKey } from './rotate-keys.ts';
export * from './service.ts';

export type ServicesDependencies = Pick<
  ServiceDependencies,
  | 'streams'
  | 'database'
  | 'sealer'
  | 'clock'
  | 'ids'
  | 'random'
  | 'log'
  | 'settings'
  | 'command'
  | 'limits'
  | 'systemCommand'
> & { readonly epochs: Epochs };

/** The functions of this module that its sibling modules need. */
export type ServiceParts = {
  readonly keys: DataKeys;
  readonly secrets: SecretStore;
  readonly catalog: Catalog;
};

export function servicesModule(needs: ServicesDependencies): {
  readonly module: Module;
  readonly parts: ServiceParts;
  readonly shredTenant: (tenantId: string, eventId: string) => Promise<void>;
} {
  const parts = serviceParts(needs);
  const shared = { ...needs, ...parts };
  const module: Module = {
    endpoints: [
      registerServiceRoute(shared),
      listServicesRoute(shared),
      getServiceRoute(shared),
      changeServiceRoute(shared),
      deleteServiceRoute(shared),
      writeSecretsRoute(shared),
      listVersionsRoute(shared),
      promoteRoute(shared),
      rollBackRoute(shared),
      destroyVersionRoute(shared),
      revealRoute(shared),
    ],
    relay: servicesRelay,
    projections: [servicesProjection(needs.epochs.changedBefore)],
    loops: [sweepSecrets(shared), keyRotation(shared)],
    start: () => parts.keys.checkCanary(),
  };
  return { module, parts, shredTenant: shredTenant(shared) };
}

/** Used by callers that work on services without serving requests: the command line and tests. */
export function serviceParts(needs: Omit<ServicesDependencies, 'epochs'>): ServiceParts {
  const { database, random, clock, settings } = needs;
  const keys = dataKeys({ database, random, clock, keys: wrapKeys(settings, 'dek-wrap/v1') });
  return { keys, secrets: secretStore({ database, keys, random, clock }), catalog: catalog(needs) };
}

export const servicesStreams = [services, names];
