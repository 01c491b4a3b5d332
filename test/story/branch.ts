/** A tenant of an organization with one object of every kind, created over HTTP. */
import { randomBytes } from 'node:crypto';
import { type RestDriver, untilTrue } from '@cardea/testing';
import { Secret, TOTP } from 'otpauth';
import { Client } from 'pg';
import { expectStatus } from '../security/users.ts';

const PASSWORD = 'a password that nobody guesses';
const SERVICES = [{ service_name: 'warehouse', fields: ['password'] }];

export type Branch = {
  readonly id: string;
  readonly slug: string;
  /** The address of its first administrator. */
  readonly email: string;
  /** Calls as the owner of the organization. */
  readonly owner: RestDriver;
  readonly ownerTenant: string;
};

/** `mailbox` serves `/dev/mailbox`. */
export async function branch(rest: RestDriver, mailbox: string): Promise<Branch> {
  const name = randomBytes(4).toString('hex');
  const post = async (driver: RestDriver, path: string, body: object) => {
    const answer = await driver.post(path, body);
    expectStatus(answer, 201);
    return answer.body;
  };
  const signedUp = await post(rest, '/api/v1/auth/signup', {
    ...{ email: `owner-${name}@example.com`, password: PASSWORD, company_name: `Head ${name}` },
  });
  const ownerTenant = signedUp.tenant_id;
  const owner = rest.as({ bearer: signedUp.access_token, tenant: ownerTenant });
  const email = `branch-${name}@example.com`;
  const tenant = await post(owner, '/api/v1/admin/tenants', {
    ...{ name: `Branch ${name}`, admin_email: email },
  });
  const token = await invitedBy(mailbox, email);
  const accept = { token, password: PASSWORD };
  const joined = await rest.post('/api/v1/auth/invitations/accept', accept);
  expectStatus(joined, 200);
  const admin = rest.as({ bearer: joined.body.access_token, tenant: tenant.id });

  await secondFactor(admin);
  const member = { email: `member-${name}@example.com`, password: PASSWORD, display_name: name };
  const bob = await post(rest.as({ tenant: tenant.id }), '/api/v1/auth/register', member);
  await post(admin, '/api/v1/admin/invitations', { email: `guest-${name}@example.com` });
  await post(admin, '/api/v1/api-keys', { name: 'key', scopes: ['fga:read'] });
  await post(admin, '/api/v1/admin/applications', { name: 'Shop', type: 'm2m' });
  await post(admin, '/api/v1/admin/resource-servers', {
    ...{
      identifier: `https://${name}.example`,
      name: 'API',
      scopes: [{ name: 'read', description: 'Read' }],
    },
  });
  await post(admin, '/api/v1/fga/tuples', {
    ...{ user_type: 'user', user_id: bob.user_id, relation: 'viewer' },
    ...{ object_type: 'document', object_id: name },
  });
  const hook = { url: `http://127.0.0.1:9/${name}`, events: ['user.created', 'user.login'] };
  await post(admin, '/api/v1/webhooks', hook);
  await agentAtWork(admin, rest.as({ bearer: bob.access_token, tenant: tenant.id }), bob.user_id);
  return { id: tenant.id, slug: tenant.slug, email, owner, ownerTenant };
}

async function invitedBy(mailbox: string, to: string): Promise<string> {
  return untilTrue(async () => {
    const answer = await fetch(`${mailbox}/dev/mailbox?to=${encodeURIComponent(to)}`, {
      headers: { accept: 'application/json' },
    });
    const { messages } = (await answer.json()) as { messages: { link: string }[] };
    return messages[0]?.link.split('#token=')[1];
  });
}

async function secondFactor(admin: RestDriver): Promise<void> {
  const begun = await admin.post('/api/v1/me/mfa/totp', {});
  expectStatus(begun, 201);
  const code = new TOTP({ secret: Secret.fromBase32(begun.body.secret) }).generate();
  const path = `/api/v1/me/mfa/totp/${begun.body.factor_id}/confirm`;
  expectStatus(await admin.post(path, { code }), 200);
}

async function agentAtWork(admin: RestDriver, member: RestDriver, userId: string): Promise<void> {
  const made = async (answer: ReturnType<RestDriver['post']>, status = 201) => {
    const { body, ...rest } = await answer;
    expectStatus({ body, ...rest }, status);
    return body;
  };
  const service = { name: 'warehouse', credential_type: 'static', fields: [{ name: 'password' }] };
  await made(admin.post('/api/v1/vault/services', service));
  const fields = { password: 'the secret of the branch' };
  await made(admin.put('/api/v1/vault/services/warehouse/secrets', { fields }), 200);
  const agent = await made(admin.post('/api/v1/agents', { name: 'bot', services: SERVICES }));
  const key = await made(admin.post(`/api/v1/agents/${agent.id}/keys`, { name: 'ci' }));
  await made(member.post('/api/v1/me/delegations', { agent_id: agent.id, services: SERVICES }));
  const bot = member.as({ bearer: key.key });
  const asked = { services: SERVICES, user_id: userId };
  const session = (await made(bot.post('/api/v1/agent/sessions', asked))).data;
  const ask = { service_name: 'warehouse', fields: ['password'] };
  const vend = `/api/v1/agent/sessions/${session.id}/credentials`;
  const headers = { 'x-service-token': session.capability_token };
  // The bus may take a moment to deliver the session to the vault.
  await untilTrue(async () => (await bot.post(vend, ask, { headers })).status === 200);
  const terms = { name: 'ask first', service_name: 'warehouse', fields: '*', agent_ids: '*' };
  const policy = { ...terms, effect: 'require_approval' };
  await made(admin.post('/api/v1/vault/approval-policies', policy));
  const request = {
    agent_id: agent.id,
    user_id: userId,
    action: 'write_data',
    ttl_seconds: 86_400,
  };
  await untilTrue(async () => {
    const answer = await admin.post('/api/v1/ciba/requests', { ...request, reason: 'private' });
    return answer.status === 201;
  });
}

/** Tables that may still name a deleted tenant, each with the reason. */
const STAYS: readonly RegExp[] = [
  // Rows of the audit log expire on their own, as the organization has set.
  /^audit\./,
  // The log is immutable, and nobody can read what it contains about persons.
  /^eventstore\./,
  // Records expire within a week.
  /^bus\./,
  // Subjects whose keys were erased, so that no process creates them again.
  /^\w+\.subject_keys$/,
  /^vault\.tenant_keys$/,
  // Tokens of the tenant are refused for as long as one could be valid.
  /^identity\.revocations$/,
  // Names of types and relations, and numbers. They show which ids were related when, as the log does.
  /^authz\.(models|tuple_counts|tuple_clocks|tuple_spans)$/,
];

/** Rows that name the tenant, by table, and its keys that can still decrypt something. */
export async function leftOf(databaseUrl: string, tenantId: string): Promise<readonly string[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT format('%s.%s', table_schema, table_name) AS name FROM information_schema.columns
       JOIN information_schema.tables USING (table_schema, table_name)
       WHERE column_name = 'tenant_id' AND table_type = 'BASE TABLE' ORDER BY 1`,
    );
    const left: string[] = [];
    for (const { name } of tables) {
      const found = await client.query(`SELECT FROM ${name} WHERE tenant_id = $1`, [tenantId]);
      const stays = STAYS.some((each) => each.test(name));
      if (!stays && (found.rowCount ?? 0) > 0) left.push(name);
      if (!/subject_keys$|tenant_keys$/.test(name)) continue;
      // The vault hashes names of services, which its log contains in clear text.
      const subject = name.endsWith('subject_keys') ? 'subject_id' : 'state';
      const keys = await client.query<{ key: string }>(
        `SELECT ${subject} AS key FROM ${name} WHERE tenant_id = $1 AND wrapped IS NOT NULL
           AND ${subject} NOT LIKE 'context:%' AND NOT ($2 AND ${subject} LIKE 'index:%')`,
        [tenantId, name === 'vault.subject_keys'],
      );
      left.push(...keys.rows.map(({ key }) => `${name} ${key}`));
    }
    return left;
  } finally {
    await client.end();
  }
}
