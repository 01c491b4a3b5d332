/**
 * The administrators' decisions about an application: creating it, its permissions, its keys, and deleting it. The
 * rules of its type apply to the resulting application, not only to the fields of a request.
 */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { type UrlRule, validateUrl } from '@cardea/http';
import { type OriginRule, originRule, type Settings } from '@cardea/runtime';
import { type ClientKeyRule, clientKeyRule } from '../../../adapters/client-key.ts';
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
import { type ClaimRule, claimsFault, readsPrivateMetadata } from '../application-claims.ts';
import {
  endsTokens,
  hasPower,
  isMachineType,
  type MachineRights,
  mayChangePower,
} from '../machine-power.ts';
import { ANY_ADDRESS, isOfOrigins } from '../private-origins.ts';
import { checkRedirectUri, type RedirectRule } from '../redirect-uri.ts';

export type FaultCode = 'invalid_redirect_uri' | 'invalid_scope' | 'invalid_request';
export type ApplicationFault = {
  readonly code: FaultCode;
  /** The first value that breaks a rule, named by the dotted path of its field. */
  readonly fault: {
    readonly field: string;
    readonly rule:
      | RedirectRule
      | OriginRule
      | UrlRule
      | ClientKeyRule
      | ClaimRule
      | 'm2m_only'
      | 'account_first_party'
      | 'confidential_only'
      | 'web_only';
    readonly allowed?: readonly string[];
  };
};

export type ByAdministrator = {
  /** Whether nobody in the tenant has a higher rank than the caller. Only then may an application act for any user. */
  readonly isHighest: boolean;
  readonly machines: MachineRights;
};
/** `not_owner`: changing a machine that has a role or a scope requires an owner in person. */
type Forbidden = 'forbidden' | 'not_owner';

/** Only the tenant's own applications may have the scope for their user's whole account. */
const ACCOUNT = 'account';
const ROLES = 'roles';

export const isConfidential = (type: ApplicationType): boolean => type === 'web' || type === 'm2m';

export const defaultGrantTypes = (type: ApplicationType): readonly GrantType[] =>
  type === 'm2m' ? ['client_credentials'] : ['authorization_code', 'refresh_token'];

const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';

/** The grants of a type. Without one of `begin` an application could never get a token. */
function possibleGrants(type: ApplicationType): {
  readonly begin: readonly GrantType[];
  readonly further: readonly GrantType[];
} {
  switch (type) {
    case 'm2m':
      return { begin: ['client_credentials'], further: [] };
    case 'spa':
      return { begin: ['authorization_code'], further: ['refresh_token'] };
    case 'native':
    case 'web':
      return { begin: ['authorization_code', DEVICE], further: ['refresh_token'] };
  }
}

/** Whether it acts for users, or reads their data, beyond what their consent alone can permit. */
export const actsForUsers = ({
  first_party,
  scopes,
  claims,
}: Pick<ApplicationFields, 'claims' | 'first_party' | 'scopes'>): boolean =>
  first_party || scopes.includes(ACCOUNT) || scopes.includes(ROLES) || readsPrivateMetadata(claims);

type Checked = Omit<ApplicationFields, 'name' | 'branding'>;

/** The deployment's settings that limit an application's fields. */
export type Deployment = {
  readonly isDevelopment: boolean;
  /** Exact origins in the operator's network to which notices may be sent. */
  readonly privateOrigins: readonly string[];
};
export const deploymentOf = ({
  ENV,
  IDENTITY_PRIVATE_ORIGINS: privateOrigins,
}: Pick<Settings, 'ENV' | 'IDENTITY_PRIVATE_ORIGINS'>): Deployment => ({
  isDevelopment: ENV === 'development',
  privateOrigins,
});

/** Why an application of this type cannot have these fields. Undefined if they are allowed. */
export function applicationFault(
  type: ApplicationType,
  fields: Checked,
  deployment: Deployment,
): ApplicationFault | undefined {
  const { scopes, first_party, grant_types, environment } = fields;
  const isDevelopment = deployment.isDevelopment || environment === 'development';
  const addresses = addressFault(type, fields, isDevelopment) ?? logoutUriFault(fields, deployment);
  if (addresses !== undefined) return addresses;
  if (!isMachineType(type) && hasPower(fields)) {
    const field = fields.roles.length > 0 ? 'roles' : 'machine_scopes';
    return { code: 'invalid_request', fault: { field, rule: 'm2m_only' } };
  }
  if (scopes.includes(ACCOUNT) && (!first_party || type === 'm2m')) {
    return { code: 'invalid_scope', fault: { field: 'scopes', rule: 'account_first_party' } };
  }
  const { begin, further } = possibleGrants(type);
  const isPossible = grant_types.every((grant) => [...begin, ...further].includes(grant));
  if (!isPossible || !grant_types.some((grant) => begin.includes(grant))) {
    const allowed = [...begin, ...further];
    return { code: 'invalid_request', fault: { field: 'grant_types', rule: 'enum', allowed } };
  }
  if (fields.jwks.length > 0 && !isConfidential(type)) {
    return { code: 'invalid_request', fault: { field: 'jwks', rule: 'confidential_only' } };
  }
  // Only PKCE ties a public client's code to the requester.
  if (!fields.require_pkce && type !== 'web') {
    return { code: 'invalid_request', fault: { field: 'require_pkce', rule: 'web_only' } };
  }
  const claim = claimsFault(fields.claims, { isMachine: isMachineType(type), scopes });
  if (claim !== undefined) return { code: 'invalid_request', fault: claim };
  return keyFault(fields.jwks);
}

/** The first key that could not verify anything. */
function keyFault(jwks: Checked['jwks']): ApplicationFault | undefined {
  for (const [at, jwk] of jwks.entries()) {
    const rule = clientKeyRule(jwk);
    if (rule !== undefined)
      return { code: 'invalid_request', fault: { field: `jwks.${at}`, rule } };
  }
  return undefined;
}

/** The first URI or origin that an application of this type may not have. */
function addressFault(
  type: ApplicationType,
  { redirect_uris, post_logout_redirect_uris, allowed_origins }: Checked,
  isDevelopment: boolean,
): ApplicationFault | undefined {
  for (const [name, uris] of Object.entries({ redirect_uris, post_logout_redirect_uris })) {
    for (const [at, uri] of uris.entries()) {
      const checked = checkRedirectUri(uri, { type, isDevelopment });
      if (!('rule' in checked)) continue;
      const fault = { field: `${name}.${at}`, rule: checked.rule };
      return { code: 'invalid_redirect_uri', fault };
    }
  }
  for (const [at, origin] of allowed_origins.entries()) {
    const rule = originRule(origin, { isNative: type === 'native', isDevelopment });
    if (rule === undefined) continue;
    return { code: 'invalid_request', fault: { field: `allowed_origins.${at}`, rule } };
  }
  return undefined;
}

/**
 * Cardea itself posts to this address, so only the deployment's environment counts. An application cannot allow
 * loopback addresses in a production deployment by declaring itself a development one.
 */
function logoutUriFault(
  { backchannel_logout_uri: uri }: Checked,
  { isDevelopment, privateOrigins }: Deployment,
): ApplicationFault | undefined {
  if (uri === null) return undefined;
  const env = isDevelopment ? 'development' : 'production';
  const allowedCidrs = isOfOrigins(uri, privateOrigins) ? ANY_ADDRESS : [];
  const checked = validateUrl(uri, { env, allowedCidrs });
  if (!('rule' in checked)) return undefined;
  const fault = { field: 'backchannel_logout_uri', rule: checked.rule };
  return { code: 'invalid_redirect_uri', fault };
}

export type CreateApplication = ApplicationFacts & {
  readonly secret_hash: string | null;
  readonly request_hash: string | null;
};

export function createApplication(
  { isHighest, machines, ...create }: CreateApplication & ByAdministrator,
  application: Application,
): Decision<ApplicationEvent, 'already_created' | Forbidden> {
  if (application.status !== 'none') return refuse('already_created');
  if (actsForUsers(create) && !isHighest) return refuse('forbidden');
  const none = { ...create, roles: [], machine_scopes: [] };
  if (!mayChangePower(machines, none, create)) return refuse('not_owner');
  return accept({ type: 'ApplicationCreated', data: create });
}

export type ChangeApplication = ByAdministrator & {
  /** Unix seconds: tokens issued before this time end with the change. */
  readonly tokensBefore: number;
  readonly fields: Partial<ApplicationFields>;
  readonly deployment: Deployment;
};

export function changeApplication(
  { fields, deployment, isHighest, machines, tokensBefore }: ChangeApplication,
  application: Application,
): Decision<ApplicationEvent, 'not_found' | Forbidden | FaultCode> {
  if (application.status !== 'active') return refuse('not_found');
  const after = { ...application, ...fields };
  // The previous permissions count as well, because the redirect URIs, origins and keys receive what people granted
  // before.
  if ((actsForUsers(application) || actsForUsers(after)) && !isHighest) {
    return refuse('forbidden');
  }
  if (!mayChangePower(machines, application, after)) return refuse('not_owner');
  const fault = applicationFault(application.type, after, deployment);
  if (fault !== undefined) return refuse(fault.code);
  const changed = Object.entries(fields).filter(([name, value]) => {
    const before = application[name as keyof ApplicationFields];
    return JSON.stringify(before) !== JSON.stringify(value);
  });
  if (changed.length === 0) return accept();
  const data = { id: application.id, ...Object.fromEntries(changed) };
  const ends = isMachineType(application.type) && endsTokens(application, after);
  return accept({
    type: 'ApplicationChanged',
    data: ends ? { ...data, tokens_before: laterOf(tokensBefore, application) } : data,
  });
}

const laterOf = (tokensBefore: number, application: ExistingApplication): number =>
  Math.max(tokensBefore, application.tokensBefore);

/** Revokes tokens again after an append that took longer than the revocation time allows. */
export function endMachineTokens(
  tokensBefore: number,
  application: Application,
): Decision<ApplicationEvent, never> {
  if (application.status !== 'active') return accept();
  const data = { id: application.id, tokens_before: laterOf(tokensBefore, application) };
  return accept({ type: 'ApplicationChanged', data });
}

const MS = 1_000;

export type RotatePublishableKey = Pick<ByAdministrator, 'machines'> & {
  readonly key: string;
  readonly graceSeconds: number;
  readonly now: Date;
};

export function rotatePublishableKey(
  { key, graceSeconds, now, machines }: RotatePublishableKey,
  application: Application,
): Decision<ApplicationEvent, 'not_found' | Forbidden> {
  if (application.status !== 'active') return refuse('not_found');
  const isProtected = actsForUsers(application) || hasPower(application);
  if (isProtected && machines === 'none') return refuse('not_owner');
  const until = new Date(now.getTime() + graceSeconds * MS).toISOString();
  const previous =
    graceSeconds === 0
      ? { previous_key: null, previous_until: null }
      : { previous_key: application.publishable_key, previous_until: until };
  const data = { id: application.id, publishable_key: key, ...previous };
  return accept({ type: 'PublishableKeyRotated', data });
}

export type RotateClientSecret = Pick<ChangeApplication, 'tokensBefore'> &
  ByAdministrator & {
    readonly hash: string;
    readonly graceSeconds: number;
    readonly now: Date;
  };

/** Rotates the secret. An application without a secret gets none, because a public client cannot store it safely. */
export function rotateClientSecret(
  { isHighest, machines, tokensBefore, ...of }: RotateClientSecret,
  application: Application,
): Decision<ApplicationEvent, 'not_found' | Forbidden | 'no_client_secret'> {
  if (application.status !== 'active') return refuse('not_found');
  if (actsForUsers(application) && !isHighest) return refuse('forbidden');
  if (hasPower(application) && machines !== 'give') return refuse('not_owner');
  if (application.secret === null) return refuse('no_client_secret');
  const rotated = rotatedSecret(application.secret, of);
  const data = { id: application.id, ...rotated };
  // If the old secret stays valid for a while, tokens obtained with it do too.
  const ends = isMachineType(application.type) && of.graceSeconds === 0;
  return accept({
    type: 'ClientSecretRotated',
    data: ends ? { ...data, tokens_before: laterOf(tokensBefore, application) } : data,
  });
}

export function deleteApplication(
  { isHighest, machines, now }: ByAdministrator & { readonly now: Date },
  application: Application,
): Decision<ApplicationEvent, 'not_found' | Forbidden> {
  if (application.status === 'none') return refuse('not_found');
  if (application.status === 'deleted') return accept();
  if (actsForUsers(application) && !isHighest) return refuse('forbidden');
  if (hasPower(application) && machines === 'none') return refuse('not_owner');
  const data = { id: application.id, deleted_at: now.toISOString() };
  return accept({ type: 'ApplicationDeleted', data });
}

export const isThere = (application: Application): application is ExistingApplication =>
  application.status === 'active';
