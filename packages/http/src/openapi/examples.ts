/**
 * An example of a body, generated from its schema: a field's own example, else the sample for its name,
 * else the smallest valid value.
 */
import type { Json } from './named-types.ts';

const ID = '01a1ff78-5d3c-7b7e-9c3e-6f2d1b0a4c55';
const TIME = '2026-11-21T20:15:22.104Z';
/** An expiry far in the future, because examples are sent in tests, too. */
const END = '2036-11-21T20:15:22.104Z';
const JWT = 'eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiIwMWExZmY3OCJ9.c2lnbmF0dXJl';

/** Samples by field name. For an array it is the sample of its items. */
const SAMPLES: { readonly [name: string]: string } = {
  email: 'ada@example.com',
  user_email: 'ada@example.com',
  admin_email: 'ada@example.com',
  password: 'correct horse battery staple',
  current_password: 'correct horse battery staple',
  new_password: 'staple battery horse correct',
  display_name: 'Ada Lovelace',
  company_name: 'Analytical Engines Ltd',
  avatar_url: 'https://example.com/ada.png',
  name: 'Invoice assistant',
  agent_name: 'Invoice assistant',
  description: 'Files the invoices of each month.',
  purpose: 'File the invoices of November',
  reason: 'The invoices of November are due.',
  message: 'Done.',
  binding_message: 'Confirm 42 on your device.',
  url: 'https://example.com/hooks/cardea',
  service_name: 'erp',
  services: 'erp',
  fields: 'api_key',
  action: 'credential_access',
  resource: 'invoice:2026-11',
  events: 'user.created',
  event: 'user.created',
  roles: 'member',
  scopes: 'users:read',
  relation: 'viewer',
  user_type: 'user',
  object_type: 'document',
  object_id: 'budget-2026',
  object_ids: 'budget-2026',
  allowed_ids: 'budget-2026',
  allowed_cidrs: '203.0.113.0/24',
  ip_address: '203.0.113.7',
  source_ip: '203.0.113.7',
  user_agent: 'Mozilla/5.0',
  access_token: JWT,
  refresh_token: 'rt_Zm9yIHRoZSBleGFtcGxlIG9ubHk',
  agent_token: JWT,
  capability_token: JWT,
  subject_token: JWT,
  publishable_key: 'pk_live_Zm9yIHRoZSBleGFtcGxl',
  secret: 'whsec_Zm9yIHRoZSBleGFtcGxlIG9ubHk',
  tenant_slug: 'analytical-engines',
  slug: 'analytical-engines',
  environment: 'production',
  credential_type: 'static',
  target_type: 'user',
  source_user_agent: 'Mozilla/5.0',
  source_geo_city: 'London',
  source_geo_country: 'GB',
  poll_url: `/api/v1/ciba/token/${ID}`,
  token: 'Zm9yIHRoZSBleGFtcGxlIG9ubHk',
};

/** Numbers by field name. Other numbers are the smallest valid ones. */
const NUMBERS: { readonly [name: string]: number } = {
  expires_in: 900,
  interval: 5,
  ttl_seconds: 300,
  use_window_seconds: 300,
  max_auth_age_seconds: 3_600,
  default_ttl_seconds: 900,
  max_ttl_seconds: 3_600,
  limit: 50,
  status_code: 200,
  duration_ms: 84,
  latency_ms: 1.2,
  audit_retention_days: 90,
};

type Schema = {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: { readonly [name: string]: Schema };
  readonly patternProperties?: { readonly [pattern: string]: Schema };
  readonly items?: Schema;
  readonly minimum?: number;
  readonly minLength?: number;
};

export const exampleOf = (schema: Json): unknown => sample(schema as Schema, '');

function sample(schema: Schema, name: string): unknown {
  const [shown = schema.const ?? schema.enum?.[0] ?? schema.default] = schema.examples ?? [];
  if (shown !== undefined) return shown;
  if (schema.anyOf !== undefined) return sample(schema.anyOf[0] ?? {}, name);
  switch ([schema.type].flat()[0]) {
    case 'object':
      return members(schema);
    case 'array':
      return [sample(schema.items ?? {}, name)];
    case 'integer':
    case 'number':
      return Object.hasOwn(NUMBERS, name) ? NUMBERS[name] : (schema.minimum ?? 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'string':
      return textOf(schema, name);
    default:
      return {};
  }
}

const members = ({ properties = {}, patternProperties = {} }: Schema): Json => ({
  ...Object.fromEntries(
    Object.entries(properties).map(([name, inner]) => [name, sample(inner, name)]),
  ),
  ...Object.fromEntries(
    Object.values(patternProperties).map((inner) => ['api_key', sample(inner, 'api_key')]),
  ),
});

function textOf({ format, minLength = 0 }: Schema, name: string): string {
  if (format === 'date-time') return name === 'expires_at' ? END : TIME;
  const known = Object.hasOwn(SAMPLES, name) ? SAMPLES[name] : undefined;
  if (known !== undefined) return known;
  if (name === 'id' || name === 'sub' || name.endsWith('_id') || name.endsWith('_ids')) return ID;
  return (name || 'text').padEnd(minLength, 'x');
}
