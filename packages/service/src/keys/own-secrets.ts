import type { ServiceName } from '@cardea/contracts';
import { serviceSecrets } from '@cardea/crypto';
import type { Settings } from '@cardea/runtime';

/**
 * The settings of one service: if CARDEA_COMPARTMENTS is set, with its own secrets instead of the deployment's. A
 * service that was given its own secrets has that setting unset.
 */
export const ownSecrets = (settings: Settings, service: ServiceName): Settings =>
  settings.CARDEA_COMPARTMENTS ? { ...settings, ...serviceSecrets(settings, service) } : settings;
