/**
 * A tenant's own model. Each version is complete and never changes. Version 0 means that the tenant has no own model:
 * the seven built-in relations apply.
 */
import type { Stream } from '@cardea/event-store';
import type { Types } from '../relations/rules.ts';

export type Model = { readonly version: number; readonly types: Types };

export type ModelPublished = {
  readonly type: 'ModelPublished';
  readonly data: { readonly version: number; readonly types: Types };
};

export const NO_MODEL: Model = { version: 0, types: {} };

export const models: Stream<Model, ModelPublished> = {
  noun: 'model',
  initial: NO_MODEL,
  stateCarrying: true,
  evolve: (_before, { data }) => ({ version: data.version, types: data.types }),
};
