/**
 * What administrators decide about an application: that it exists, what it may ask for, its keys, and its
 * end. The rules of its type hold for what it becomes, not only for what a request names.
 */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { isBrowserOrigin } from '@cardea/runtime';
import { rotatedSecret } from '../../../streams/key-secret.ts';
import type {
  Application,
  ApplicationEvent,
  ApplicationFacts,
  ApplicationFields,
  ApplicationType,
  ExistingApplication,
  GrantType,
} from '../application.ts';
import { isRedirectUri } from '../redirect-uri.ts';

export type ApplicationFault = 'invalid_redirect_uri' | 'invalid_scope' | 'invalid_request';

/** Only the tenant's own applications may act as the whole account of their user. */
const ACCOUNT = 'account';

export const isConfidential = (type: ApplicationType): boolean => type === 'web' || type === 'm2m';

export const defaultGrantTypes = (type: ApplicationType): readonly GrantType[] =>
  type === 'm2m' ? ['client_credentials'] : ['authorization_code', 'refresh_token'];

/** Why an application of this type cannot be so; undefined where it can. */
export function applicationFault(
  type: ApplicationType,
  fields: Omit<ApplicationFields, 'name' | 'environment' | 'branding'>,
  isDevelopment: boolean,
): ApplicationFault | undefined {
  const { redirect_uris: uris, scopes, first_party, grant_types } = fields;
  if (!uris.every((uri) => isRedirectUri(uri, { type, isDevelopment }))) {
    return 'invalid_redirect_uri';
  }
  if (scopes.includes(ACCOUNT) && (!first_party || type === 'm2m')) return 'invalid_scope';
  if (!fields.allowed_origins.every(isBrowserOrigin)) return 'invalid_request';
  const possible = defaultGrantTypes(type);
  const needed = possible[0] as GrantType;
  if (!grant_types.includes(needed) || !grant_types.every((grant) => possible.includes(grant))) {
    return 'invalid_request';
  }
  return fields.jwks.length > 0 && !isConfidential(type) ? 'invalid_request' : undefined;
}

export type CreateApplication = ApplicationFacts & {
  readonly secret_hash: string | null;
  readonly request_hash: string | null;
};

export const createApplication = (
  create: CreateApplication,
  application: Application,
): Decision<ApplicationEvent, 'already_created'> =>
  application.status === 'none'
    ? accept({ type: 'ApplicationCreated', data: create })
    : refuse('already_created');

export type ChangeApplication = {
  readonly fields: Partial<ApplicationFields>;
  readonly isDevelopment: boolean;
};

export function changeApplication(
  { fields, isDevelopment }: ChangeApplication,
  application: Application,
): Decision<ApplicationEvent, 'not_found' | ApplicationFault> {
  if (application.status !== 'active') return refuse('not_found');
  const fault = applicationFault(application.type, { ...application, ...fields }, isDevelopment);
  if (fault !== undefined) return refuse(fault);
  const changed = Object.entries(fields).filter(([name, value]) => {
    const before = application[name as keyof ApplicationFields];
    return JSON.stringify(before) !== JSON.stringify(value);
  });
  if (changed.length === 0) return accept();
  const data = { id: application.id, ...Object.fromEntries(changed) };
  return accept({ type: 'ApplicationChanged', data });
}

const MS = 1_000;

export type RotatePublishableKey = {
  readonly key: string;
  readonly graceSeconds: number;
  readonly now: Date;
};

export function rotatePublishableKey(
  { key, graceSeconds, now }: RotatePublishableKey,
  application: Application,
): Decision<ApplicationEvent, 'not_found'> {
  if (application.status !== 'active') return refuse('not_found');
  const until = new Date(now.getTime() + graceSeconds * MS).toISOString();
  const previous =
    graceSeconds === 0
      ? { previous_key: null, previous_until: null }
      : { previous_key: application.publishable_key, previous_until: until };
  const data = { id: application.id, publishable_key: key, ...previous };
  return accept({ type: 'PublishableKeyRotated', data });
}

/** An application without a secret gets none: a public client has nowhere to keep it. */
export function rotateClientSecret(
  of: { readonly hash: string; readonly graceSeconds: number; readonly now: Date },
  application: Application,
): Decision<ApplicationEvent, 'not_found' | 'no_client_secret'> {
  if (application.status !== 'active') return refuse('not_found');
  if (application.secret === null) return refuse('no_client_secret');
  const rotated = rotatedSecret(application.secret, of);
  return accept({ type: 'ClientSecretRotated', data: { id: application.id, ...rotated } });
}

export function deleteApplication(
  now: Date,
  application: Application,
): Decision<ApplicationEvent, 'not_found'> {
  if (application.status === 'none') return refuse('not_found');
  if (application.status === 'deleted') return accept();
  const data = { id: application.id, deleted_at: now.toISOString() };
  return accept({ type: 'ApplicationDeleted', data });
}

export const isThere = (application: Application): application is ExistingApplication =>
  application.status === 'active';
