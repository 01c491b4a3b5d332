/** An application as administrators see and change it. */
import { documented, named, Time } from '@cardea/contracts';
import Type, { type Static } from 'typebox';
import { closed } from '../../http/answers.ts';
import { filledNameField } from '../../http/input-fields.ts';
import { brandingChange } from '../tenants/settings-shape.ts';
import { EnvironmentField } from '../tenants/tenant-shape.ts';
import { APPLICATION_TYPES, type ExistingApplication, GRANT_TYPES } from './application.ts';

const REDIRECT_URIS_MAX = 50;
const ORIGINS_MAX = 50;
const SCOPES_MAX = 50;
const JWKS_MAX = 5;
const URI_CHARACTERS_MAX = 2_048;
const ORIGIN_CHARACTERS_MAX = 300;
const MEMBER_CHARACTERS_MAX = 4_096;

export const ScopeName = Type.String({
  pattern: '^[A-Za-z][A-Za-z0-9:._/-]{0,63}$',
  examples: ['profile'],
});
const ApplicationTypeField = named('ApplicationType', Type.Enum([...APPLICATION_TYPES]));

/** Public members of a JWK; a private half or a shared secret is refused. */
const Jwk = named(
  'ClientJwk',
  Type.Object(
    {
      kty: Type.Enum(['OKP', 'EC', 'RSA']),
      crv: Type.Optional(Type.Enum(['Ed25519', 'P-256', 'P-384', 'P-521'])),
      kid: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
      alg: Type.Optional(Type.String({ maxLength: 16 })),
      use: Type.Optional(Type.Literal('sig')),
      x: Type.Optional(Type.String({ maxLength: MEMBER_CHARACTERS_MAX })),
      y: Type.Optional(Type.String({ maxLength: MEMBER_CHARACTERS_MAX })),
      n: Type.Optional(Type.String({ maxLength: MEMBER_CHARACTERS_MAX })),
      e: Type.Optional(Type.String({ maxLength: 16 })),
    },
    { additionalProperties: false },
  ),
);

/** 400 `invalid_redirect_uri`. */
const redirectUri = documented(Type.String({ maxLength: URI_CHARACTERS_MAX }), {
  format: 'uri',
  examples: ['https://app.example.com/callback'],
});

const changeable = {
  environment: Type.Optional(EnvironmentField),
  redirect_uris: Type.Optional(
    Type.Array(redirectUri, { maxItems: REDIRECT_URIS_MAX, uniqueItems: true }),
  ),
  allowed_origins: Type.Optional(
    Type.Array(
      documented(Type.String({ maxLength: ORIGIN_CHARACTERS_MAX }), {
        pattern: '^https?://[^/]+$',
        examples: ['https://app.example.com'],
      }),
      { maxItems: ORIGINS_MAX, uniqueItems: true },
    ),
  ),
  grant_types: Type.Optional(
    Type.Array(named('GrantType', Type.Enum([...GRANT_TYPES])), { minItems: 1, uniqueItems: true }),
  ),
  scopes: Type.Optional(Type.Array(ScopeName, { maxItems: SCOPES_MAX, uniqueItems: true })),
  first_party: Type.Optional(Type.Boolean()),
  require_par: Type.Optional(Type.Boolean()),
  branding: brandingChange,
  jwks: Type.Optional(Type.Array(Jwk, { maxItems: JWKS_MAX })),
};

export const NewApplication = closed({
  name: filledNameField,
  type: ApplicationTypeField,
  ...changeable,
});
export const ApplicationChange = Type.Object(
  { name: Type.Optional(filledNameField), ...changeable },
  { additionalProperties: false, minProperties: 1 },
);

const fields = {
  id: Type.String(),
  tenant_id: Type.String(),
  name: Type.String(),
  environment: Type.String(),
  type: ApplicationTypeField,
  publishable_key: Type.String(),
  client_id: Type.String(),
  redirect_uris: Type.Array(Type.String()),
  allowed_origins: Type.Array(Type.String()),
  grant_types: Type.Array(Type.String()),
  scopes: Type.Array(Type.String()),
  first_party: Type.Boolean(),
  require_par: Type.Boolean(),
  branding: Type.Object({}, { additionalProperties: true }),
  jwks: Type.Array(Type.Object({}, { additionalProperties: true })),
  created_at: Time,
};
export const ApplicationShape = named('Application', closed(fields));
/** `client_secret` of confidential clients alone, this once. */
export const CreatedApplication = named(
  'CreatedApplication',
  closed({ ...fields, client_secret: Type.Optional(Type.String()) }),
);

export const shownApplication = (
  tenantId: string,
  application: ExistingApplication,
): Static<typeof ApplicationShape> => ({
  id: application.id,
  tenant_id: tenantId,
  name: application.name,
  environment: application.environment,
  type: application.type,
  publishable_key: application.publishable_key,
  client_id: application.id,
  redirect_uris: [...application.redirect_uris],
  allowed_origins: [...application.allowed_origins],
  grant_types: [...application.grant_types],
  scopes: [...application.scopes],
  first_party: application.first_party,
  require_par: application.require_par,
  branding: { ...application.branding },
  jwks: application.jwks.map((jwk) => ({ ...jwk })),
  created_at: application.created_at,
});
