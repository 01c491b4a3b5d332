/** A person reads a value back. The event is in the log before the value is sent. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import {
  aboutService,
  carrying,
  currentOf,
  fieldOf,
  type SecretRevealed,
  type SecretVersion,
  type Service,
} from '../service.ts';

export type Reveal = {
  readonly field: string;
  /** Undefined means the current version. */
  readonly version: number | undefined;
  readonly reason: string;
};
export type RevealRefusal =
  | 'service_not_found'
  | 'reveal_disabled'
  | 'unknown_field'
  | 'version_not_found'
  | 'version_destroyed'
  | 'secret_not_set';

export function reveal(
  { field: name, version, reason }: Reveal,
  service: Service,
): Decision<SecretRevealed, RevealRefusal> {
  if (service.status !== 'registered') return refuse('service_not_found');
  const { record } = service;
  if (!record.reveal) return refuse('reveal_disabled');
  const found = versionOf({ field: name, version }, service);
  if ('refused' in found) return refuse(found.refused);
  const { version: number, secret_id } = found.version;
  const data = { ...aboutService(record), field: name, version: number, secret_id, reason };
  return accept(...carrying(record, [{ type: 'SecretRevealed', data }]));
}

/** The requested version, or the reason why there is none. */
export function versionOf(
  { field: name, version }: Pick<Reveal, 'field' | 'version'>,
  service: Service,
): { readonly version: SecretVersion } | { readonly refused: RevealRefusal } {
  if (service.status !== 'registered') return { refused: 'service_not_found' };
  const field = fieldOf(service.record, name);
  if (field === undefined) return { refused: 'unknown_field' };
  if (version === undefined) {
    const current = currentOf(field);
    return current === undefined ? { refused: 'secret_not_set' } : { version: current };
  }
  if (version > field.last_version) return { refused: 'version_not_found' };
  const found = field.versions.find((each) => each.version === version);
  return found === undefined ? { refused: 'version_destroyed' } : { version: found };
}
