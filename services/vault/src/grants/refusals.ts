/**
 * Refused vends of an agent. Each is recorded in the log, or counted if there are many. No decision depends on them, so
 * only the last event is ever loaded.
 */
import { accept, type Stream } from '@cardea/event-store';
import type { Request } from '@cardea/http';
import {
  type RefusalsPerMinute,
  refusalsPerMinute,
  type ServiceDependencies,
} from '@cardea/service';

/** Only names of registered services and fields. Anything else that was sent is null. */
export type RefusedVend = {
  readonly agent_id: string;
  /** The error code in the response. */
  readonly code: string;
  readonly session_id: string | null;
  readonly service_id: string | null;
  readonly service_name: string | null;
  readonly fields: readonly string[] | null;
};
export type VendRefused = {
  readonly type: 'VendRefused';
  readonly data: RefusedVend & { readonly count: number };
};

/** The stream's id is the agent's. */
export const refusals: Stream<null, VendRefused> = {
  noun: 'refusals',
  initial: null,
  stateCarrying: true,
  evolve: () => null,
};

export const refuseVend = (data: VendRefused['data']) =>
  accept({ type: 'VendRefused', data } as const);

type AnyRequest = Request<unknown, unknown, unknown>;
type Refusal = { readonly request: AnyRequest; readonly data: RefusedVend };

export interface RefusalRecorder extends Pick<RefusalsPerMinute<Refusal>, 'flush'> {
  /** Never throws: the response is sent whether or not the refusal could be recorded. */
  record(request: AnyRequest, data: RefusedVend): Promise<void>;
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
