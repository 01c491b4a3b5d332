/** The schemas of applications for administrators. */
import { documented, MACHINE_SCOPES, named, Time } from '@cardea/contracts';
import Type, { type Static } from 'typebox';
import { CLIENT_ALGORITHMS } from '../../adapters/client-algorithms.ts';
import { ASSERTION_ALGORITHMS, CLIENT_KEY_CURVES } from '../../adapters/client-key.ts';
import { closed } from '../../http/answers.ts';
import { filledNameField } from '../../http/input-fields.ts';
import { brandingChange } from '../tenants/settings-shape.ts';
import { EnvironmentField } from '../tenants/tenant-shape.ts';
import { APPLICATION_TYPES, type ExistingApplication, GRANT_TYPES } from './application.ts';
import {
  CLAIM_NAME,
  CLAIM_SOURCE_CHARACTERS_MAX,
  CLAIM_USES,
  CLAIMS_MAX,
} from './application-claims.ts';
import { redirectWarnings } from './redirect-uri.ts';

const REDIRECT_URIS_MAX = 50;
const POST_LOGOUT_URIS_MAX = 10;
const ORIGINS_MAX = 50;
const SCOPES_MAX = 50;
const JWKS_MAX = 5;
const URI_CHARACTERS_MAX = 2_048;
const ORIGIN_CHARACTERS_MAX = 300;
const MEMBER_CHARACTERS_MAX = 4_096;
const ROLES_MAX = 50;
const ROLE_CHARACTERS_MAX = 64;

export const ScopeName = Type.String({
  pattern: '^[A-Za-z][A-Za-z0-9:._/-]{0,63}$',
  examples: ['profile'],
});
const ApplicationTypeField = named('ApplicationType', Type.Enum([...APPLICATION_TYPES]));

const MachineScopeField = named('MachineScope', Type.Enum([...MACHINE_SCOPES]));
const ClientAlgorithmField = named('ClientAlgorithm', Type.Enum([...CLIENT_ALGORITHMS]));

/** Public members of a JWK. Private keys and shared secrets are refused. */
const Jwk = named(
  'ClientJwk',
  Type.Object(
    {
      kty: Type.Enum(['OKP', 'EC', 'RSA']),
      crv: Type.Optional(Type.Enum([...CLIENT_KEY_CURVES])),
      kid: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
      alg: Type.Optional(Type.Enum([...ASSERTION_ALGORITHMS])),
      use: Type.Optional(Type.Literal('sig')),
      x: Type.Optional(Type.String({ maxLength: MEMBER_CHARACTERS_MAX })),
      y: Type.Optional(Type.String({ maxLength: MEMBER_CHARACTERS_MAX })),
      n: Type.Optional(Type.String({ maxLength: MEMBER_CHARACTERS_MAX })),
      e: Type.Optional(Type.String({ maxLength: 16 })),
    },
    { additionalProperties: false },
  ),
);

/** An invalid URI is refused with 400 `invalid_redirect_uri`. */
const redirectUri = documented(Type.String({ maxLength: URI_CHARACTERS_MAX }), {
  format: 'uri',
  examples: ['https://app.example.com/callback'],
});

/** An invalid URI is refused with 400 `invalid_redirect_uri`. */
const logoutUri = documented(Type.String({ maxLength: URI_CHARACTERS_MAX }), {
  format: 'uri',
  examples: ['https://app.example.com/backchannel-logout'],
});

const ClaimUseField = named('ClaimUse', Type.Enum([...CLAIM_USES]));
const claimFields = {
  name: Type.String({ pattern: CLAIM_NAME.source, examples: ['department'] }),
  /** Refused with 400 `invalid_request` and a rule, which tells more than a pattern would. */
  from: documented(Type.String({ minLength: 1, maxLength: CLAIM_SOURCE_CHARACTERS_MAX }), {
    pattern: '^(roles|tenant\\.slug|locale|(public|private)_metadata\\..+)$',
    examples: ['public_metadata.department'],
  }),
};
const NewClaim = named(
  'NewApplicationClaim',
  closed({
    ...claimFields,
    scope: Type.Optional(ScopeName),
    in: Type.Optional(Type.Array(ClaimUseField, { minItems: 1, uniqueItems: true })),
  }),
);
const Claim = named(
  'ApplicationClaim',
  closed({
    name: Type.String(),
    from: Type.String(),
    scope: Type.String(),
    in: Type.Array(ClaimUseField),
  }),
);

const changeable = {
  environment: Type.Optional(EnvironmentField),
  redirect_uris: Type.Optional(
    Type.Array(redirectUri, { maxItems: REDIRECT_URIS_MAX, uniqueItems: true }),
  ),
  post_logout_redirect_uris: Type.Optional(
    Type.Array(redirectUri, { maxItems: POST_LOGOUT_URIS_MAX, uniqueItems: true }),
  ),
  backchannel_logout_uri: Type.Optional(Type.Union([logoutUri, Type.Null()])),
  backchannel_logout_session_required: Type.Optional(Type.Boolean()),
  allowed_origins: Type.Optional(
    Type.Array(
      documented(Type.String({ maxLength: ORIGIN_CHARACTERS_MAX }), {
        pattern: '^[a-z][a-z0-9+.-]*://[^/]+$',
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
  /** May be false only for type `web`. */
  require_pkce: Type.Optional(Type.Boolean()),
  id_token_signed_response_alg: Type.Optional(ClientAlgorithmField),
  userinfo_signed_response_alg: Type.Optional(Type.Union([ClientAlgorithmField, Type.Null()])),
  dpop_bound_access_tokens: Type.Optional(Type.Boolean()),
  claims: Type.Optional(Type.Array(NewClaim, { maxItems: CLAIMS_MAX })),
  /** Only for machines: `admin`, `owner`, or roles that the tenant defined. */
  roles: Type.Optional(
    Type.Array(Type.String({ maxLength: ROLE_CHARACTERS_MAX, examples: ['admin'] }), {
      maxItems: ROLES_MAX,
      uniqueItems: true,
    }),
  ),
  /** Only for machines: scopes of Cardea's own API. */
  machine_scopes: Type.Optional(Type.Array(MachineScopeField, { uniqueItems: true })),
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

/** `scheme_not_owned`: a redirect URI has a scheme without a dot, which other applications may also claim. */
const ApplicationWarning = named('ApplicationWarning', Type.Enum(['scheme_not_owned']));

const fields = {
  id: Type.String(),
  tenant_id: Type.String(),
  name: Type.String(),
  environment: Type.String(),
  type: ApplicationTypeField,
  publishable_key: Type.String(),
  client_id: Type.String(),
  redirect_uris: Type.Array(Type.String()),
  post_logout_redirect_uris: Type.Array(Type.String()),
  backchannel_logout_uri: Type.Union([Type.String(), Type.Null()]),
  backchannel_logout_session_required: Type.Boolean(),
  allowed_origins: Type.Array(Type.String()),
  grant_types: Type.Array(Type.String()),
  scopes: Type.Array(Type.String()),
  first_party: Type.Boolean(),
  require_par: Type.Boolean(),
  require_pkce: Type.Boolean(),
  id_token_signed_response_alg: ClientAlgorithmField,
  userinfo_signed_response_alg: Type.Union([ClientAlgorithmField, Type.Null()]),
  dpop_bound_access_tokens: Type.Boolean(),
  claims: Type.Array(Claim),
  roles: Type.Array(Type.String()),
  machine_scopes: Type.Array(MachineScopeField),
  branding: Type.Object({}, { additionalProperties: true }),
  jwks: Type.Array(Type.Object({}, { additionalProperties: true })),
  warnings: Type.Array(ApplicationWarning),
  created_at: Time,
};
export const ApplicationShape = named('Application', closed(fields));
/** `client_secret` is present for confidential clients, only in this response. */
export const CreatedApplication = named(
  'CreatedApplication',
  closed({ ...fields, client_secret: Type.Optional(Type.String()) }),
);

/** All addresses to which a browser is redirected. */
export const urisOf = ({
  redirect_uris,
  post_logout_redirect_uris,
}: Pick<ExistingApplication, 'post_logout_redirect_uris' | 'redirect_uris'>): readonly string[] => [
  ...redirect_uris,
  ...post_logout_redirect_uris,
];

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
  post_logout_redirect_uris: [...application.post_logout_redirect_uris],
  backchannel_logout_uri: application.backchannel_logout_uri,
  backchannel_logout_session_required: application.backchannel_logout_session_required,
  allowed_origins: [...application.allowed_origins],
  grant_types: [...application.grant_types],
  scopes: [...application.scopes],
  first_party: application.first_party,
  require_par: application.require_par,
  require_pkce: application.require_pkce,
  id_token_signed_response_alg: application.id_token_signed_response_alg,
  userinfo_signed_response_alg: application.userinfo_signed_response_alg,
  dpop_bound_access_tokens: application.dpop_bound_access_tokens,
  claims: application.claims.map((claim) => ({ ...claim, in: [...claim.in] })),
  roles: [...application.roles],
  machine_scopes: [...application.machine_scopes],
  branding: { ...application.branding },
  jwks: application.jwks.map((jwk) => ({ ...jwk })),
  warnings: [...redirectWarnings(urisOf(application))],
  created_at: application.created_at,
});
