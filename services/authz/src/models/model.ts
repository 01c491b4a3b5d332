/**
 * A tenant's own model. Each version is whole and stays as it is; version 0 is no model of the tenant's own:
 * the seven relations and what follows from them.
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
