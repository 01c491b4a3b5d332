/**
 * The applications of Google, GitHub and Microsoft with which a tenant's users sign in. Their secrets can be written
 * but not read. They are stored encrypted in separate events.
 */
import { exactText, named } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import { storedId } from '@cardea/runtime';
import Type, { type Static } from 'typebox';
import { closed } from '../../http/answers.ts';
import { nullable } from '../../http/input-fields.ts';
import type { Environment } from './environment.ts';
import { pageUrl } from './page-url.ts';

export const SOCIAL_PROVIDERS = ['google', 'github', 'microsoft'] as const;
export type SocialProvider = (typeof SOCIAL_PROVIDERS)[number];

export type SocialClient = {
  readonly client_id: string;
  /** The provider's address if it is not its own. Allowed in development only. */
  readonly endpoint: string | null;
  /** The ids of the directories whose users may sign in, for Microsoft. */
  readonly tenants?: readonly string[];
};
export type SocialSettings = { readonly [Provider in SocialProvider]: SocialClient | null };

/** Secrets by the name of their setting, such as `social.google`. */
export type TenantSecrets = { readonly [name: string]: Sealed };
export const secretName = (provider: SocialProvider): string => `social.${provider}`;

const CLIENT_ID_CHARACTERS_MAX = 255;
const SECRET_CHARACTERS_MAX = 1_024;
const URL_CHARACTERS_MAX = 2_048;
const DIRECTORIES_MAX = 50;

const client = {
  client_id: exactText(
    Type.String({
      minLength: 1,
      maxLength: CLIENT_ID_CHARACTERS_MAX,
      pattern: '^[\\x21-\\x7e]+$',
      examples: ['cardea'],
    }),
  ),
};
const endpoint = nullable(Type.String({ maxLength: URL_CHARACTERS_MAX }));
const tenants = Type.Array(
  Type.String({
    pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
    examples: ['72f988bf-86f1-41af-91ab-2d7cd011db47'],
  }),
  {
    minItems: 1,
    maxItems: DIRECTORIES_MAX,
    uniqueItems: true,
  },
);
const written = {
  ...client,
  /** If it is missing, the current secret stays. */
  client_secret: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: SECRET_CHARACTERS_MAX,
      pattern: '^[\\x21-\\x7e]+$',
      examples: ['a-secret'],
    }),
  ),
  endpoint: Type.Optional(endpoint),
};
const shown = { ...client, endpoint, has_secret: Type.Boolean() };

/** Null disables the provider. */
const change = {
  google: nullable(named('SocialClientChange', closed(written))),
  github: nullable(named('SocialClientChange', closed(written))),
  microsoft: nullable(named('MicrosoftClientChange', closed({ ...written, tenants }))),
};
export const SocialChange = named('SocialSettingsChange', Type.Partial(closed(change)));

export const SocialShape = named(
  'SocialSettings',
  closed({
    google: nullable(named('SocialClient', closed(shown))),
    github: nullable(named('SocialClient', closed(shown))),
    microsoft: nullable(named('MicrosoftClient', closed({ ...shown, tenants }))),
  }),
);

export type SocialWritten = Static<typeof SocialChange>;

/** Returns the settings and the secrets to write with them, or undefined if one is not allowed. */
export function readSocial(
  written: SocialWritten,
  env: Environment,
):
  | {
      readonly social: Partial<SocialSettings>;
      readonly secrets: { readonly [name: string]: string };
    }
  | undefined {
  const social: { [Provider in SocialProvider]?: SocialClient | null } = {};
  const secrets: { [name: string]: string } = {};
  for (const provider of SOCIAL_PROVIDERS) {
    const given = written[provider];
    if (given === undefined) continue;
    if (given === null) {
      social[provider] = null;
      continue;
    }
    const { client_secret, endpoint: at = null, ...rest } = given;
    const isAllowed = at === null || (env === 'development' && pageUrl(at, env) !== undefined);
    if (!isAllowed) return undefined;
    const { tenants: directories } = rest as { readonly tenants?: readonly string[] };
    const tenants = directories && [...new Set(directories.map(storedId))];
    social[provider] = { ...rest, endpoint: at, ...(tenants && { tenants }) };
    if (client_secret !== undefined) secrets[secretName(provider)] = client_secret;
  }
  return { social, secrets };
}

const shownClient = (client: SocialClient | null, secret: Sealed | undefined) =>
  client === null
    ? null
    : {
        client_id: client.client_id,
        endpoint: client.endpoint,
        has_secret: secret !== undefined,
      };

export const shownSocial = (
  { google, github, microsoft }: SocialSettings,
  secrets: TenantSecrets,
): Static<typeof SocialShape> => {
  const directory = shownClient(microsoft, secrets[secretName('microsoft')]);
  return {
    google: shownClient(google, secrets[secretName('google')]),
    github: shownClient(github, secrets[secretName('github')]),
    microsoft: directory && { ...directory, tenants: [...(microsoft?.tenants ?? [])] },
  };
};

/** The application and its secret, for a provider by which the tenant's users may sign in. */
export function socialClient(
  tenant: {
    readonly settings: {
      readonly auth_methods: readonly string[];
      readonly social: SocialSettings;
    };
    readonly secrets: TenantSecrets;
  },
  provider: SocialProvider,
): { readonly client: SocialClient; readonly secret: Sealed } | undefined {
  const { auth_methods, social } = tenant.settings;
  const client = social[provider];
  const secret = tenant.secrets[secretName(provider)];
  const isOn = auth_methods.includes(provider);
  return isOn && client !== null && secret !== undefined ? { client, secret } : undefined;
}
