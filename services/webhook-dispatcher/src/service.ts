/** The webhook dispatcher sends events to addresses that tenants choose, signed and at least once. */
import { type ServiceDefinition, type ServiceDependencies, serviceOf } from '@cardea/service';
import {
  deliveriesModule,
  deliveriesStreams,
  type Replay,
  replayOf,
} from './deliveries/deliveries.module.ts';
import { webhooksModule, webhooksStreams } from './webhooks/webhooks.module.ts';

export const webhooksService: ServiceDefinition = {
  name: 'webhooks',
  streams: [...webhooksStreams, ...deliveriesStreams],
  migrations: new URL('../migrations/', import.meta.url),
  build: (needs) => {
    const { module, index } = webhooksModule(needs);
    return serviceOf([module, deliveriesModule({ ...needs, index })]);
  },
};

/** The service for the command line. It runs no loop: the running service sends what is scheduled. */
export const webhooksOperations = (needs: ServiceDependencies): { readonly replay: Replay } => ({
  replay: replayOf(needs),
});
