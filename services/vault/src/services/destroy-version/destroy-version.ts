/** Destroys a version permanently: it is no longer listed, and its ciphertext is erased. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import {
  carrying,
  destroying,
  fieldOf,
  replaceField,
  type SecretVersionDestroyed,
  type Service,
} from '../service.ts';

export type DestroyVersion = { readonly field: string; readonly version: number };
export type DestroyRefusal =
  | 'service_not_found'
  | 'unknown_field'
  | 'version_not_found'
  | 'version_in_use';

/** Destroying a version again changes nothing. */
export function destroyVersion(
  { field: name, version }: DestroyVersion,
  service: Service,
): Decision<SecretVersionDestroyed, DestroyRefusal> {
  if (service.status !== 'registered') return refuse('service_not_found');
  const { record } = service;
  const field = fieldOf(record, name);
  if (field === undefined) return refuse('unknown_field');
  if (version > field.last_version) return refuse('version_not_found');
  const found = field.versions.find((each) => each.version === version);
  if (found === undefined) return accept();
  if (found.stage === 'current') return refuse('version_in_use');
  const versions = field.versions.filter((each) => each !== found);
  const after = replaceField(record, { ...field, versions });
  return accept(...carrying(after, destroying(after, name, [found])));
}
