/**
 * Refusals of known callers are events: an `ActionDenied` in the log of the service that refused, on a
 * stream that nothing else writes.
 */
import type { identityEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import { accept, type Stream } from '@cardea/event-store';
import type { Area, Denial, Denials } from '@cardea/http';
import { refusalsPerMinute } from './limits/refusals-per-minute.ts';
import type { ServiceDependencies } from './service.ts';

export type ActionDenied = {
  readonly type: 'ActionDenied';
  readonly data: {
    readonly area: Area;
    readonly operation: string;
    /** The error code of the response. */
    readonly reason: string;
    readonly status: number;
    readonly target: { readonly type: string; readonly id: string | null } | null;
    /** More than 1 if the refusals of a minute were counted together. */
    readonly count: number;
  };
};

export const denial = (noun = 'denial'): Stream<null, ActionDenied> => ({
  noun,
  initial: null,
  evolve: () => null,
});

/** `noun` is `denial` by default. A service may record its refusals on other streams. */
export function denialsOf(
  needs: Pick<ServiceDependencies, 'streams' | 'command' | 'clock' | 'log'>,
  noun = 'denial',
): Denials {
  const stream = denial(noun);
  const write = async (denied: Denial, count: number): Promise<void> => {
    const { area, operation, reason, status } = denied;
    const target = count > 1 ? null : denied.target;
    const command = await needs.command(denied.request);
    await needs.streams.decideOn(stream, command.id, command, {
      isNew: true,
      decide: (_state, revision) =>
        revision > 0
          ? accept()
          : accept({
              type: 'ActionDenied',
              data: { area, operation, reason, status, target, count },
            }),
    });
  };
  const refusals = refusalsPerMinute({ clock: needs.clock, log: needs.log, write });
  return {
    record: (refusal) => {
      const { kind, id, tenantId } = refusal.principal;
      return refusals.record({
        refusal,
        caller: `${tenantId} ${kind} ${id}`,
        kind: `${refusal.operation} ${refusal.reason}`,
      });
    },
    flush: refusals.flush,
  };
}

/** The relay mapping of refusals, which every service uses. */
export const denialRelay = relay<ActionDenied, typeof identityEvents>({
  ActionDenied: ({ data }) => ({ type: 'action.denied', data }),
});
