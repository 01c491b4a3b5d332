/** Records failed authentications of clients for the audit log, with a limit per client and minute. */
import { accept } from '@cardea/event-store';
import type { Request } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import { LIMITS } from '../../http/limits.ts';
import { type ClientFailureReason, clientFailures } from './client-failure.ts';

type Failure = {
  readonly tenantId: string;
  readonly clientId: string;
  readonly reason: ClientFailureReason;
};

export type RecordClientFailure = (
  request: Request<unknown, unknown, unknown>,
  failure: Failure,
) => Promise<void>;

export const recordClientFailure =
  ({
    command: commandOf,
    limits,
    streams,
  }: Pick<ServiceDependencies, 'command' | 'limits' | 'streams'>): RecordClientFailure =>
  async (request, { tenantId, clientId, reason }) => {
    if (!(await limits.take([LIMITS.clientFailuresRecorded, clientId])).allowed) return;
    const actor = { type: 'system', id: 'identity' } as const;
    const command = await commandOf(request, { tenantId, actor });
    const data = { client_id: clientId, reason, at: command.now.toISOString() };
    await streams.decideOn(clientFailures, clientId, command, () =>
      accept({ type: 'ClientAuthFailed', data }),
    );
  };
