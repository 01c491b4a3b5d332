/** An application of a tenant: how a client identifies itself, with a publishable key that is no secret. */
import type { Stream } from '@cardea/event-store';

export type ApplicationType = 'spa' | 'native' | 'web' | 'm2m';

export type ApplicationFacts = {
  readonly id: string;
  readonly name: string;
  readonly environment: string;
  readonly type: ApplicationType;
  readonly publishable_key: string;
  readonly created_at: string;
};
export type Application =
  | { readonly status: 'none' }
  | ({ readonly status: 'active' | 'deleted' } & ApplicationFacts);

export type ApplicationEvent =
  | { readonly type: 'ApplicationCreated'; readonly data: ApplicationFacts }
  | {
      readonly type: 'ApplicationDeleted';
      readonly data: { readonly id: string; readonly deleted_at: string };
    };

export const applications: Stream<Application, ApplicationEvent> = {
  noun: 'application',
  initial: { status: 'none' },
  evolve: (before, { type, data }) => {
    switch (type) {
      case 'ApplicationCreated':
        return { status: 'active', ...data };
      case 'ApplicationDeleted':
        return before.status === 'none' ? before : { ...before, status: 'deleted' };
    }
  },
};
