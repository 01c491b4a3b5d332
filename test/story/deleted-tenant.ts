/** Tenants that are closed and deleted thirty days later, by processes that die on the way. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RestDriver, untilTrue } from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, expect } from 'vitest';
import { type Branch, branch, leftOf } from './branch.ts';

const LATER = new URL('later.mjs', import.meta.url).href;
const TENANTS = '/api/v1/admin/tenants';
export const PLAYED_MS_MAX = 600_000;
/** Shorter than the test's own limit, so that the failure says what is left. */
export const GONE_MS_MAX = 400_000;
/**
 * The fail point of a process that dies after it has erased keys: in its first life after the first time, in its second
 * life after the second time, and so on.
 */
export const deadly = (deaths: number): string => `erase.after_key=kill@${deaths + 1}`;
export const DAYS = 30;

/**
 * Gives settings to the processes that are started with `env`. Until they are set, these processes behave like any
 * other.
 */
export function starts(name: string) {
  // A folder for each file of tests: files in one process share this module.
  const folder = mkdtempSync(join(tmpdir(), 'cardea-later-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, name);
  const set = (what: { readonly days?: number; readonly failPoints?: string }): void =>
    writeFileSync(file, JSON.stringify(what));
  set({});
  return { set, env: { NODE_OPTIONS: `--import ${LATER}`, LATER_FILE: file } };
}

/**
 * Tables that must have rows of the tenant before its deletion. Otherwise it would mean nothing to find none
 * afterwards.
 */
const HELD = [
  ...['agent_keys', 'agent_sessions', 'agents', 'api_keys', 'applications', 'delegations'],
  ...['invitations', 'resource_servers', 'sessions', 'users'],
].map((table) => `identity.${table}`);
const ELSEWHERE = [
  ...['approval.agents', 'approval.requests', 'approval.users', 'authz.tuples'],
  ...['vault.agent_sessions', 'vault.agents', 'vault.grants', 'vault.secret_versions'],
  ...['vault.services', 'vault.users', 'webhooks.webhooks'],
];

export async function closed(rest: RestDriver, of: { mailbox: string; databaseUrl: string }) {
  const made = await branch(rest, of.mailbox);
  await untilTrue(
    async () => {
      const left = await leftOf(of.databaseUrl, made.id);
      return [...HELD, ...ELSEWHERE].every((table) => left.includes(table));
    },
    { what: 'all services have heard of it' },
  );
  const answer = await made.owner.delete(`${TENANTS}/${made.id}`);
  expect(answer.status).toBe(202);
  return made;
}

/** Closes the tenant as if that had happened thirty days earlier. A clock that is ahead would disturb the brokers. */
export async function closeEarlier(databaseUrl: string, tenantId: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // The triggers that protect the log's events are off in this session.
    await client.query('SET session_replication_role = replica');
    const { rowCount } = await client.query(
      `UPDATE eventstore.events SET data = jsonb_set(data, '{shred_at}', to_jsonb(now()))
       WHERE type = 'TenantClosed' AND stream_id = $1`,
      [`tenant-${tenantId}`],
    );
    expect(rowCount).toBe(1);
    await client.query('UPDATE identity.tenants SET shred_at = now() WHERE id = $1', [tenantId]);
  } finally {
    await client.end();
  }
}

export async function isGone(databaseUrl: string, tenantId: string): Promise<boolean> {
  const left = await leftOf(databaseUrl, tenantId);
  if (left.length > 0) throw new Error(`left of it: ${left.join(', ')}`);
  return true;
}

/** Checks that the users and the slug can be registered again, and that other tenants are not affected. */
export async function expectFree(rest: RestDriver, { owner, slug, email, ownerTenant }: Branch) {
  const heir = await owner.post(TENANTS, { name: 'Heir', slug });
  expect(heir.status).toBe(201);
  const again = { email, password: 'a password that nobody guesses', company_name: 'Anew' };
  expect((await rest.post('/api/v1/auth/signup', again)).body.access_token).toBeTypeOf('string');
  expect((await owner.get(`${TENANTS}/${ownerTenant}`)).status).toBe(200);
  const { events } = (await owner.get('/api/v1/audit/events')).body;
  expect(events.map(({ type }: { type: string }) => type)).toContain('admin.tenant.create');
}
