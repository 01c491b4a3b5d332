/** Makes versions of several fields current in one step, so that no vend sees a new user with an old password. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { currentFault, type ExpectedCurrent } from '../current-versions.ts';
import {
  aboutService,
  carrying,
  currentOf,
  fieldOf,
  makeCurrent,
  replaceField,
  type SecretVersionPromoted,
  type Service,
} from '../service.ts';

export type Promote = {
  readonly versions: { readonly [field: string]: number };
  readonly expected: ExpectedCurrent;
  readonly now: Date;
};
export type PromoteRefusal =
  | 'service_not_found'
  | 'unknown_field'
  | 'version_conflict'
  | 'version_not_found'
  | 'version_destroyed';

/** Promoting a current version changes nothing. */
export function promote(
  { versions, expected, now }: Promote,
  service: Service,
): Decision<SecretVersionPromoted, PromoteRefusal> {
  if (service.status !== 'registered') return refuse('service_not_found');
  let { record } = service;
  const fault = currentFault(record, Object.keys(versions), expected);
  if (fault !== undefined) return refuse(fault);
  const events: SecretVersionPromoted[] = [];
  for (const [name, version] of Object.entries(versions)) {
    const field = fieldOf(record, name);
    if (field === undefined || version > field.last_version) return refuse('version_not_found');
    const found = field.versions.find((each) => each.version === version);
    if (found === undefined) return refuse('version_destroyed');
    if (found.stage === 'current') continue;
    const replaced = currentOf(field)?.version ?? null;
    record = replaceField(record, makeCurrent(field, version, { now, replacedStage: 'previous' }));
    events.push({
      type: 'SecretVersionPromoted',
      data: {
        ...aboutService(record),
        field: name,
        version,
        secret_id: found.secret_id,
        replaced,
      },
    });
  }
  return accept(...carrying(record, events));
}
