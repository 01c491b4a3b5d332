import type { ServiceName } from '@cardea/contracts';
import { serviceSecrets } from '@cardea/crypto';
import type { Settings } from '@cardea/runtime';

/**
 * The settings as one service has them: where CARDEA_COMPARTMENTS is set, with secrets of its own in place of
 * the deployment's. A service that was given its own ones is not told of compartments.
 */
export const ownSecrets = (settings: Settings, service: ServiceName): Settings =>
  settings.CARDEA_COMPARTMENTS ? { ...settings, ...serviceSecrets(settings, service) } : settings;
