/**
 * The audit row of every published event (`docs/design/audit.md`, "Catalogue"). Each line is an event and variant:
 * source/type and given fields; audit type; category, action, result; target; details. Fields that are not given are
 * samples from the event's schema, where a text is the name of its field.
 */
import { EVENT_CATALOGUE, type IntegrationEvent, type Json, kindOf } from '@cardea/contracts';
import { describe, expect, it } from 'vitest';
import { rowOf } from '../mapping.ts';

const TABLE = `
identity/user.created via=register                | user.registered          | auth create success     | user id            | via
identity/user.created via=social                  | user.registered          | auth create success     | user id            | via
identity/user.created via=invitation              | user.registered          | auth create success     | user id            | via
identity/user.created via=signup                  | workspace.created        | auth create success     | tenant the-tenant  | user_id=id
identity/user.created via=admin @admin            | admin.user.create        | admin create success    | user id            | via roles
identity/user.created via=import                  | admin.user.create        | admin create success    | user id            | via roles
identity/user.created via=bootstrap @system       | admin.user.create        | admin create success    | user id            | via roles
identity/user.updated                             | profile.updated          | auth update success     | user id            | changed
identity/user.updated @admin                      | admin.user.update        | admin update success    | user id            | changed
identity/user.status_changed @admin               | admin.user.update        | admin update success    | user id            | changed status
identity/user.deleted                             | admin.user.delete        | admin delete success    | user id            |
identity/user.login                               | login.success            | auth login success      | session id         | method amr
identity/user.login session=null                  | login.success            | auth login success      | user id            | method amr
identity/user.login_failed method=password        | login.failure            | auth login failure      | user user_id       | method reason failures
identity/user.login_failed user_id=null           | login.failure            | auth login failure      | user null          | method reason failures
identity/user.login_failed reason=blocked         | login.blocked            | auth login denied       | user user_id       | method reason failures
identity/user.login_failed method=otp             | otp.failure              | auth verify failure     | user user_id       | method reason failures
identity/user.login_failed method=totp            | mfa.failure              | auth verify failure     | user user_id       | method reason failures
identity/user.login_failed method=recovery        | mfa.failure              | auth verify failure     | user user_id       | method reason failures
identity/user.login_failed method=passkey         | mfa.failure              | auth verify failure     | user user_id       | method reason failures
identity/user.unlocked @admin                     | admin.user.unlock        | admin unlock success    | user id            |
identity/user.password_changed by=user            | password.changed         | auth update success     | user id            | by
identity/user.password_changed by=reset           | password.reset           | auth update success     | user id            | by
identity/user.password_changed by=admin @admin    | password.reset           | auth update success     | user id            | by
identity/user.email_verified                      | email.verified           | auth verify success     | user id            |
identity/user.email_change step=requested         | email.change_requested   | auth request success    | user id            | by
identity/user.email_change step=proven            | email.change_proven      | auth verify success     | user id            | by
identity/user.email_change step=stopped           | email.change_stopped     | auth cancel success     | user id            | by
identity/user.deletion step=scheduled             | account.deletion_scheduled | auth request success  | user id            | delete_at
identity/user.deletion step=cancelled             | account.deletion_cancelled | auth cancel success   | user id            | delete_at
identity/user.self_exported                       | account.exported         | auth export success     | user id            |
identity/user.factor_changed change=enrolled      | mfa.enrolled             | auth enroll success     | factor factor_id   | type
identity/user.factor_changed change=verified      | mfa.verified             | auth verify success     | factor factor_id   | type
identity/user.factor_changed change=removed       | mfa.removed              | auth remove success     | factor factor_id   | type
identity/user.factor_changed type=passkey         | passkey.added            | auth add success        | factor factor_id   | type
identity/user.factor_changed type=passkey change=removed | passkey.removed   | auth remove success     | factor factor_id   | type
identity/user.factor_changed change=stepped       | step_up.success          | auth verify success     | factor factor_id   | type
identity/user.identity_changed change=linked      | identity.linked          | auth link success       | user id            | provider
identity/user.identity_changed change=unlinked    | identity.unlinked        | auth unlink success     | user id            | provider
identity/user.impersonated @admin                 | admin.user.impersonate   | admin impersonate success | user id          | reason
identity/users.exported @admin                    | admin.user.export        | admin export success    | user null          | rows included
identity/session.revoked                          | session.revoked          | auth revoke success     | session id         | reason
identity/session.revoked reason=reuse client_id=null | refresh.reuse_detected | auth deny denied        | session id         | reason
identity/session.revoked reason=reuse client_id=the-app | oauth.refresh_reuse_detected | auth deny denied | session id        | reason
identity/session.refresh_repeated                 | session.refresh_repeated | auth refresh failure    | session id         |
identity/sessions.revoked                         | session.revoked_all      | auth revoke success     | user user_id       | count
identity/consent.granted                          | consent.granted          | auth grant success      | client client_id   | user_id scopes
identity/consent.revoked                          | consent.revoked          | auth revoke success     | client client_id   | user_id
identity/oauth.authorized                         | oauth.authorized         | auth authorize success  | client client_id   | scopes resource session_id
identity/oauth.client_auth_failed                 | oauth.client_auth_failed | auth login failure      | client client_id   | reason
identity/oauth.logout_notice_failed               | oauth.logout_notice_failed | auth notify failure   | client client_id   | session_id attempts cause
identity/organization.created                     | admin.organization.create | admin create success   | organization id    |
identity/organization.updated                     | admin.organization.update | admin update success   | organization id    | changed
identity/tenant.created                           | admin.tenant.create      | admin create success    | tenant id          | environment
identity/tenant.updated                           | admin.tenant.update      | admin update success    | tenant id          | changed
identity/tenant.deleted                           | admin.tenant.delete      | admin delete success    | tenant id          |
identity/application.created                      | admin.application.create | admin create success    | application id     | environment
identity/application.updated                      | admin.application.update | admin update success    | application id     | changed
identity/application.rotated                      | admin.application.rotate | admin rotate success    | application id     | what
identity/application.deleted                      | admin.application.delete | admin delete success    | application id     |
identity/resource_server.created                  | admin.resource_server.create | admin create success | resource_server id | scopes
identity/resource_server.deleted                  | admin.resource_server.delete | admin delete success | resource_server id |
identity/invitation.created                       | admin.invitation.create  | admin create success    | invitation id      | roles
identity/invitation.accepted                      | admin.invitation.accept  | admin accept success    | invitation id      |
identity/invitation.revoked                       | admin.invitation.revoke  | admin revoke success    | invitation id      |
identity/api_key.created                          | admin.api_key.create     | admin create success    | api_key id         | scopes environment
identity/api_key.rotated                          | admin.api_key.rotate     | admin rotate success    | api_key id         | scopes environment
identity/api_key.revoked                          | admin.api_key.revoke     | admin revoke success    | api_key id         |
identity/agent.created                            | agent.created            | agent create success    | agent id           | services
identity/agent.updated                            | agent.updated            | agent update success    | agent id           | changed services
identity/agent.suspended                          | agent.suspended          | agent suspend success   | agent id           |
identity/agent.resumed                            | agent.resumed            | agent resume success    | agent id           |
identity/agent.deleted                            | agent.deleted            | agent delete success    | agent id           |
identity/agent_key.created                        | agent.key_created        | agent create success    | agent_key id       | agent_id
identity/agent_key.rotated                        | agent.key_rotated        | agent rotate success    | agent_key id       | agent_id
identity/agent_key.revoked                        | agent.key_revoked        | agent revoke success    | agent_key id       | agent_id
identity/delegation.granted                       | agent.delegation_granted | agent grant success     | agent agent_id     | services
identity/delegation.withdrawn                     | agent.delegation_withdrawn | agent revoke success  | agent agent_id     | services
identity/agent_session.started @agent             | agent.session_started    | agent start success     | agent_session id   | agent_id user_id services
identity/agent_session.renewed @agent             | agent.token_issued       | agent issue success     | agent_session id   | agent_id user_id services
identity/agent_session.ended @system              | agent.session_ended      | agent end success       | agent_session id   | agent_id user_id services reason
identity/mail.requested purpose=reset             | password.reset_requested | auth request success    | user user_id       | purpose
identity/mail.requested purpose=reset user_id=null @system | password.reset_requested | auth request success | user null     | purpose
identity/mail.requested purpose=magic_link        | magic_link.sent          | auth request success    | user user_id       | purpose
identity/mail.requested purpose=otp               | otp.sent                 | auth request success    | user user_id       | purpose
identity/mail.requested purpose=verify            | email.verification_sent  | auth request success    | user user_id       | purpose
identity/mail.requested purpose=invitation        | (none)
identity/mail.requested purpose=notice            | (none)
identity/signing_key.activated @system            | keys.activated           | admin rotate success    | signing_key kid    | kid
identity/signing_key.retired @system              | keys.retired             | admin retire success    | signing_key kid    | kid
identity/signing_key.removed @system              | keys.removed             | admin remove success    | signing_key kid    | kid
identity/signing_key.activated @admin             | admin.keys.rotate        | admin rotate success    | signing_key kid    | kid
identity/action.denied area=user status=401       | auth.denied              | auth deny denied        | type id            | operation reason status
identity/action.denied area=user status=429       | auth.denied              | auth deny failure       | type id            | operation reason status
identity/action.denied area=admin target=null     | admin.denied             | admin deny failure      | operation operation | operation reason status
identity/action.denied area=agent status=403      | agent.denied             | agent deny denied       | type id            | operation reason status
identity/action.denied area=admin status=403 count=7 | admin.denied          | admin deny denied       | type id            | operation reason status count
authz/model.published @admin                      | admin.fga.publish_model  | fga update success      | model null         | version
authz/tuple.written @admin                        | admin.fga.write_tuple    | fga create success      | tuple tuple_id     | user_type user_id relation object_type object_id
authz/tuple.deleted @admin                        | admin.fga.delete_tuple   | fga delete success      | tuple tuple_id     | user_type user_id relation object_type object_id
authz/tuple.write_repeated @admin                 | admin.fga.write_tuple    | fga create success      | tuple tuple_id     | user_type user_id relation object_type object_id noop:true
authz/tuple.delete_repeated tuple_id=null         | admin.fga.delete_tuple   | fga delete success      | tuple null         | user_type user_id relation object_type object_id noop:true
authz/action.denied area=fga status=403 operation=write_tuple  | admin.fga.write_tuple  | fga deny denied | tuple null | operation reason status
authz/action.denied area=fga status=403 operation=delete_tuple | admin.fga.delete_tuple | fga deny denied | tuple null | operation reason status
authz/action.denied area=fga status=403           | fga.denied               | fga deny denied         | type id            | operation reason status
vault/vault.credential.granted @agent             | credential_accessed      | credential access success | credential grant_id | service=service_name fields grant_id session_id user_id approval_id
vault/vault.credential.reused @agent              | credential_reused        | credential access success | credential grant_id | service=service_name fields grant_id session_id user_id approval_id count
vault/vault.credential.refused @agent             | credential_denied        | credential deny denied  | credential service_id | service=service_name fields code session_id count
vault/vault.credential.revoked @admin             | credential_revoked       | credential revoke success | credential grant_id | service=service_name fields grant_id cause
vault/vault.service.registered @admin             | vault.service_created    | vault create success    | service service_id | service=service_name
vault/vault.service.changed @admin                | vault.service_updated    | vault update success    | service service_id | service=service_name changed
vault/vault.service.deleted @admin                | vault.service_deleted    | vault delete success    | service service_id | service=service_name
vault/vault.secret.written @admin version=1       | vault.secret_written     | vault create success    | secret service_id/field | service=service_name field version
vault/vault.secret.written @admin version=2       | vault.secret_written     | vault rotate success    | secret service_id/field | service=service_name field version
vault/vault.secret.promoted @admin                | vault.secret_promoted    | vault promote success   | secret service_id/field | service=service_name field version
vault/vault.secret.rolled_back @admin             | vault.secret_rolled_back | vault rollback success  | secret service_id/field | service=service_name field version
vault/vault.secret.revealed @admin                | vault.secret_read        | vault access success    | secret service_id/field | service=service_name field version reason
vault/vault.secret.destroyed @admin               | vault.secret_destroyed   | vault destroy success   | secret service_id/field | service=service_name field version
vault/vault.policy.added @admin                   | vault.policy_created     | vault create success    | policy policy_id   | policy_id version service effect
vault/vault.policy.changed @admin                 | vault.policy_updated     | vault update success    | policy policy_id   | policy_id version service effect
vault/vault.policy.removed @admin                 | vault.policy_deleted     | vault delete success    | policy policy_id   | policy_id version service effect
vault/action.denied area=vault status=403         | vault.denied             | vault deny denied       | type id            | operation reason status
approval/approval.requested @agent                | ciba.request_created     | authorization create success | approval_request id | action severity ttl_seconds deputy_for set needed
approval/approval.given                           | ciba.given               | authorization approve success | approval_request id | action severity ttl_seconds deputy_for set needed given
approval/approval.escalated @system               | ciba.escalated           | authorization escalate success | approval_request id | action severity ttl_seconds deputy_for set needed to
approval/approval.approved                        | ciba.approved            | authorization approve success | approval_request id | action severity ttl_seconds deputy_for set needed responders access
approval/approval.denied                          | ciba.denied              | authorization deny denied | approval_request id | action severity ttl_seconds deputy_for
approval/approval.expired @system                 | ciba.expired             | authorization expire failure | approval_request id | action severity ttl_seconds deputy_for
approval/approval.consumed @agent                 | ciba.consumed            | authorization consume success | approval_request id | action severity ttl_seconds deputy_for
approval/approval.decision_refused @agent         | ciba.decision_refused    | authorization approve denied | approval_request id | action severity ttl_seconds deputy_for
approval/approval.codes_blocked @user             | ciba.codes_blocked       | authorization approve denied | user user_id       | level blocked_until
approval/deputy.changed @user                     | ciba.deputy_changed      | authorization update success | user user_id       | deputy from until
approval/channel.created @admin                   | admin.approval_channel.create | admin create success | approval_channel channel_id | format origin recipient
approval/channel.changed @user                    | admin.approval_channel.update | admin update success | approval_channel channel_id | format origin recipient changed
approval/channel.deleted @admin                   | admin.approval_channel.delete | admin delete success | approval_channel channel_id | format origin recipient
approval/action.denied area=authorization status=401 | authorization.denied  | authorization deny denied | type id          | operation reason status
webhooks/webhook.created @admin                   | admin.webhook.create     | admin create success    | webhook webhook_id | origin events enabled
webhooks/webhook.updated @admin                   | admin.webhook.update     | admin update success    | webhook webhook_id | origin events enabled changed
webhooks/webhook.secret_rotated @admin            | admin.webhook.rotate_secret | admin rotate success | webhook webhook_id |
webhooks/webhook.deleted @admin                   | admin.webhook.delete     | admin delete success    | webhook webhook_id |
webhooks/webhook.tested @admin                    | admin.webhook.test       | admin test success      | webhook webhook_id |
webhooks/webhook.auto_disabled @system            | webhook.auto_disabled    | admin disable success   | webhook webhook_id | failing_since
webhooks/delivery.retried @admin                  | admin.webhook.retry_delivery | admin retry success | delivery delivery_id | webhook_id retry_of event
webhooks/delivery.failed @system                  | webhook.delivery_failed  | admin deliver failure   | delivery delivery_id | webhook_id event attempts status_code error
webhooks/action.denied area=admin status=403      | admin.denied             | admin deny denied       | type id            | operation reason status
audit/export.made @admin                          | admin.audit.export       | admin export success    | audit null         | format rows filters
audit/retention.applied @system                   | audit.retention_applied  | admin delete success    | audit null         | before rows
audit/action.denied area=admin status=403         | admin.denied             | admin deny denied       | type id            | operation reason status
`;

type Fixture = {
  readonly name: string;
  readonly source: string;
  readonly type: string;
  readonly actor: string;
  readonly data: { readonly [field: string]: Json };
  /** The fields that the line states, which select the row. */
  readonly stated: readonly string[];
  /** Null if the event gets no row. */
  readonly row: object | null;
};

const TENANT = 'the-tenant';
const WHEN = '2026-03-04T05:06:07.890Z';
const CONTEXT = {
  ip: '192.0.2.7',
  user_agent: 'agent/1',
  app_id: 'the-app',
  agent_id: 'the-agent',
  request_id: 'the-request',
};
/** Replaces texts that users wrote or that identify them. No row may contain it. */
const PRIVATE = 'private-text';
const PRIVATE_FIELDS = [
  ...['email', 'display_name', 'name', 'description', 'purpose', 'agent_name'],
  ...['ip_address', 'user_agent', 'publishable_key'],
];

const fixtures = TABLE.trim().split('\n').map(fixture);

describe('From event to audit row', () => {
  it.each(fixtures)('audit 1 $name becomes the row of the catalogue', (given) => {
    const row = rowOf(eventOf(given));
    if (given.row === null) expect(row).toBeUndefined();
    else expect(row).toMatchObject(given.row);
    expect(row?.details).toStrictEqual(given.row === null ? undefined : detailsOf(given));
  });

  it('audit 1 each published type has a line here, and each line a published type', () => {
    const published = Object.values(EVENT_CATALOGUE).flatMap(({ source, types }) =>
      types.map((type) => `${source}/${type}`),
    );
    const told = new Set(fixtures.map(({ source, type }) => `${source}/${type}`));
    expect([...told].sort()).toEqual(published.sort());
  });

  it('a row repeats no address, no name and no text that a person wrote', () => {
    for (const given of fixtures) {
      expect(JSON.stringify(rowOf(eventOf(given)) ?? {}), given.name).not.toContain(PRIVATE);
    }
  });

  it('an event is told with its own id, time, tenant and surroundings, so that a replay repeats it', () => {
    const [first] = fixtures;
    if (first === undefined) throw new Error('there are no fixtures');
    const row = rowOf(eventOf(first));
    expect(row).toMatchObject({
      ...{ id: 'the-event', ts: WHEN, tenant_id: TENANT, app_id: 'the-app' },
      ...{ source_ip: '192.0.2.7', source_user_agent: 'agent/1', actor_agent_id: 'the-agent' },
    });
    expect(rowOf(eventOf(first))).toEqual(row);
  });

  it('a type that nobody has described is refused, and not passed over', () => {
    const [first] = fixtures;
    if (first === undefined) throw new Error('there are no fixtures');
    expect(() => rowOf({ ...eventOf(first), type: 'user.teleported' })).toThrow(
      'unknown_event_type',
    );
  });
});

describe('C6 the largest event of each type', () => {
  /** The number of items if the schema has no limit: enough to exceed a row. */
  const LIST_ITEMS = 60;
  const TEXT_CHARS = 4096;
  const ITEM_CHARS = 200;

  const largest = (schema: Schema, field: string, chars = TEXT_CHARS): Json => {
    const [first = schema.const] = schema.enum ?? [];
    if (first !== undefined) return first;
    const inner = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema.anyOf?.[0];
    if (inner !== undefined) return largest(inner, field, chars);
    switch (schema.type) {
      case 'array': {
        const length = schema.maxItems ?? LIST_ITEMS;
        return Array.from({ length }, () => largest(schema.items ?? {}, field, ITEM_CHARS));
      }
      case 'object': {
        const entries = Object.entries(schema.properties ?? {});
        return Object.fromEntries(entries.map(([name, of]) => [name, largest(of, name, chars)]));
      }
      case 'boolean':
        return true;
      case 'integer':
      case 'number':
        return schema.maximum ?? Number.MAX_SAFE_INTEGER;
      default: {
        if (schema.format === 'date-time') return WHEN;
        // The text has an odd number of UTF-16 units, so that the cut falls into a surrogate pair.
        return `x${'\u{1F600}'.repeat(Math.floor(Math.min(schema.maxLength ?? chars, chars) / 2))}`;
      }
    }
  };

  it.each(fixtures.filter(({ row }) => row !== null).map((given) => [given.name, given] as const))(
    '%s has a row of at most 8 KiB, which says how much it omits',
    (_, given) => {
      const kind = kindOf(given.source, given.type, 1);
      const { context: _context, ...data } = largest(kind?.schema as Schema, '') as {
        [field: string]: Json;
      };
      const stated = Object.fromEntries(given.stated.map((field) => [field, given.data[field]]));
      const event = eventOf(given);
      const whole = { ...event, data: { ...event.data, ...data, ...stated } } as IntegrationEvent;
      const { details = {}, target_id = null } = rowOf(whole) ?? {};
      // A larger target than an index accepts would park the stream.
      expect(Buffer.byteLength(target_id ?? '')).toBeLessThanOrEqual(2_048);
      expect(target_id?.isWellFormed() ?? true).toBe(true);
      const text = JSON.stringify(details);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8 * 1024);
      expect(text).not.toMatch(/\\ud[89a-f]/);
      expect(details['omitted'] ?? 0).toBe(missingIn(details, whole.data));
    },
  );

  /** Counts the omitted items of lists, in the details themselves and one level below. */
  function missingIn(details: object, before: object): number {
    const known: { readonly [name: string]: unknown } = { ...before };
    const counts = Object.entries(details).map(([name, kept]: [string, unknown]) => {
      const whole = known[name];
      if (Array.isArray(kept)) return Array.isArray(whole) ? whole.length - kept.length : 0;
      const isNested = typeof kept === 'object' && typeof whole === 'object';
      return isNested && kept !== null && whole !== null ? missingIn(kept, whole) : 0;
    });
    return counts.reduce((sum, each) => sum + each, 0);
  }

  it('keeps what fits: an agent of 50 services with three long field names', () => {
    const fields = [1, 2, 3].map((n) => `${n}`.padEnd(64, 'f'));
    const services = Array.from({ length: 50 }, (_, n) => ({
      service_name: `service-${n}`,
      fields,
    }));
    const given = fixtures.find(({ name }) => name === 'identity/agent.created');
    if (given === undefined) throw new Error('no such fixture');
    const { details } = rowOf(eventOf({ ...given, data: { ...given.data, services } })) ?? {};
    const kept = details?.['services'] as readonly unknown[];
    expect(kept.length).toBeGreaterThan(25);
    expect(kept).toEqual(services.slice(0, kept.length));
    expect(details?.['omitted']).toBe(50 - kept.length);
  });
});

function fixture(line: string): Fixture {
  const [given = '', type, how = '', target = ''] = line.split('|').map((cell) => cell.trim());
  const [key = '', ...rest] = given.split(' ');
  const [source = '', eventType = ''] = key.split('/');
  const kind = kindOf(source, eventType, 1);
  if (kind === undefined) throw new Error(`${key} is not published`);
  const { context: _, ...sampled } = sample(kind.schema as object, '') as { [field: string]: Json };
  const fields = rest.filter((word) => !word.startsWith('@')).map((word) => word.split('='));
  const stated = fields.map(([field = '', text = '']) => [field, literal(text)]);
  const data = { ...sampled, ...Object.fromEntries(stated) };
  const actor = rest.find((word) => word.startsWith('@'))?.slice(1) ?? 'user';
  const named = {
    ...{ name: given, source, type: eventType, actor, data },
    stated: fields.map(([field = '']) => field),
  };
  if (type === '(none)') return { ...named, row: null };
  const [category, action, result] = how.split(' ');
  const [targetType, targetId = ''] = target.split(' ');
  const row = {
    ...{ type, category, action, result, actor_type: actor, actor_id: 'the-actor' },
    ...{ target_type: targetType, target_id: literal(targetId) },
  };
  return { ...named, row };
}

/**
 * `field` is a field of the event with the same name; `name=field` is another field of it; `name:value` is a literal
 * value.
 */
function detailsOf({ name, data }: Fixture): object {
  const line = TABLE.split('\n').find((one) => one.split('|')[0]?.trim() === name) ?? '';
  const words = (line.split('|')[4] ?? '').split(' ').filter((word) => word !== '');
  return Object.fromEntries(
    words.map((word) => {
      const [field = '', value] = word.split(':');
      if (value !== undefined) return [field, literal(value)];
      const [shown = '', from = shown] = word.split('=');
      return [shown, data[from]];
    }),
  );
}

function literal(text: string): Json {
  return /^(null|true|\d+)$/.test(text) ? JSON.parse(text) : text;
}

function eventOf({ source, type, actor, data }: Fixture): IntegrationEvent {
  const event = {
    ...{ id: 'the-event', type, source, time: WHEN, tenantId: TENANT, streamId: 'the-stream' },
    ...{ position: '1', schemaVersion: 1, actor: { type: actor, id: 'the-actor' } },
    data: { ...data, context: CONTEXT },
  } as IntegrationEvent;
  expect(kindOf(source, type, 1)?.faults(event.data)).toEqual([]);
  return event;
}

/** The parts of a JSON schema that this test reads. */
type Schema = {
  readonly const?: Json;
  readonly enum?: readonly Json[];
  readonly anyOf?: readonly Schema[];
  readonly type?: string;
  readonly properties?: { readonly [name: string]: Schema };
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly format?: string;
};

/** Returns a value that fits the schema. If several kinds fit, it uses the first. */
function sample(schema: Schema, field: string): Json {
  const [first = schema.const] = schema.enum ?? [];
  if (first !== undefined) return first;
  const [inner] = schema.anyOf ?? [];
  if (inner !== undefined) return sample(inner, field);
  switch (schema.type) {
    case 'array':
      return [sample(schema.items ?? {}, field)];
    case 'boolean':
      return true;
    case 'integer':
      return schema.minimum ?? 1;
    case 'object': {
      const entries = Object.entries(schema.properties ?? {});
      return Object.fromEntries(entries.map(([name, of]) => [name, sample(of, name)]));
    }
    default:
      if (schema.format === 'date-time') return WHEN;
      return PRIVATE_FIELDS.includes(field) ? PRIVATE : field;
  }
}
