/** Records refused vends in the log. */
import type { Request } from '@cardea/http';
import {
  type RefusalsPerMinute,
  refusalsPerMinute,
  type ServiceDependencies,
} from '@cardea/service';
import { type Refused, refusals, refuseVend } from './refusal.ts';

type AnyRequest = Request<unknown, unknown, unknown>;
type Refusal = { readonly request: AnyRequest; readonly data: Refused };

export interface RefusalRecorder extends Pick<RefusalsPerMinute<Refusal>, 'flush'> {
  /** Never throws: the answer is sent whether or not the refusal could be recorded. */
  record(request: AnyRequest, data: Refused): Promise<void>;
}

export function refusalRecorder(
  needs: Pick<ServiceDependencies, 'streams' | 'command' | 'clock' | 'ids' | 'log'>,
): RefusalRecorder {
  const { streams, clock, ids, log } = needs;
  const { record, flush } = refusalsPerMinute<Refusal>({
    clock,
    log,
    write: async ({ request, data }, count) => {
      const command = { ...(await needs.command(request)), id: ids.next() };
      await streams.decideOn(refusals, data.agent_id, command, () =>
        refuseVend({ ...data, count }),
      );
    },
  });
  return {
    record: (request, data) =>
      record({
        refusal: { request, data },
        caller: `${request.tenantId} ${data.agent_id}`,
        kind: `${data.code} ${data.service_id}`,
      }),
    flush,
  };
}
