/** The dependencies of the channels' endpoints. */
import type { ServiceDependencies } from '@cardea/service';
import type { IdentityFacts } from '../requests/requests.module.ts';

export type ChannelDependencies = Pick<
  ServiceDependencies,
  'streams' | 'command' | 'sealer' | 'settings' | 'ids' | 'database' | 'revocations' | 'clock'
> & {
  readonly identityFacts: IdentityFacts;
  /** Called when there may be messages to send. */
  readonly wake: () => void;
};
