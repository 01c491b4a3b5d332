import { accept, type Decision, refuse } from '@cardea/event-store';
import type { Types } from '../../relations/rules.ts';
import type { Model, ModelPublished } from '../model.ts';

export type Publish = { readonly expectedVersion: number; readonly types: Types };

export function publish(
  { expectedVersion, types }: Publish,
  { version }: Model,
): Decision<ModelPublished, 'version_conflict'> {
  if (expectedVersion !== version) return refuse('version_conflict');
  return accept({ type: 'ModelPublished', data: { version: version + 1, types } });
}
