/** Vault on a real database, with tokens of the fixture and a faithful fake of the approval service. */
import type { RecordedEvent } from '@cardea/event-store';
import type { Clock } from '@cardea/runtime';
import type { Offers } from '@cardea/service';
import {
  type RestAnswer,
  type RestDriver,
  type ServiceFixture,
  serviceFixture,
  untilTrue,
} from '@cardea/testing';
import { vaultService } from '@cardea/vault';
import { type ApprovalPeer, approvalPeer } from './approval-peer.ts';

export type Vending = {
  readonly service_name?: string;
  readonly fields?: readonly string[];
  readonly approval_id?: string;
  readonly force_refresh?: boolean;
};

export type Session = {
  readonly tenantId: string;
  readonly agentId: string;
  readonly sessionId: string;
  readonly key: string;
  readonly keyId: string;
  readonly capability: string;
  vend(body?: Vending, headers?: { readonly [name: string]: string }): Promise<RestAnswer>;
};

export type NewSession = {
  readonly tenantId: string;
  readonly agentId?: string;
  readonly sessionId?: string;
  readonly userId?: string | undefined;
  readonly fields?: readonly string[];
  readonly services?: readonly string[];
  readonly epoch?: number;
  readonly claims?: object;
};

export type VaultFixture = ServiceFixture & {
  readonly approval: ApprovalPeer;
  /** A client with the rights of the tenant's admin. */
  admin(tenantId: string): RestDriver;
  session(of: NewSession): Session;
  /** Registers a service (`db` by default) with fields `user`, `password`, `extra` and sets the first two. */
  keep(tenantId: string, name?: string): Promise<void>;
  put(tenantId: string, fields: object, more?: object): Promise<RestAnswer>;
  /** Publishes identity's event that an administrator vouches for these users, or no longer does. */
  vouch(tenantId: string, users: readonly string[], vouched?: boolean): Promise<void>;
  eventsOf(tenantId: string): Promise<readonly RecordedEvent[]>;
};

let count = 0;
export const newTenant = (): string => `tenant-${Date.now().toString(36)}-${++count}`;

export const FIELDS = ['password', 'user'];

export async function vaultFixture(
  databaseUrl: string,
  options: {
    readonly clock?: Clock;
    readonly env?: { readonly [name: string]: string };
    readonly peers?: Offers;
    readonly onLog?: (line: string) => void;
  } = {},
): Promise<VaultFixture> {
  const approval = approvalPeer();
  const fixture = await serviceFixture({
    databaseUrl,
    definitions: [vaultService],
    ...options,
    peers: { approval: approval.peer, ...options.peers },
  });
  const { rest, tokens } = fixture;
  const admin = (tenantId: string) =>
    rest.as({
      tenant: tenantId,
      bearer: tokens.user({ tenantId, id: `admin-of-${tenantId}`, roles: ['admin'] }),
    });
  const put = (tenantId: string, fields: object, more: object = {}) =>
    admin(tenantId).put('/api/v1/vault/services/db/secrets', { fields, ...more });
  return {
    ...fixture,
    approval,
    admin,
    put,
    session: (of) => sessionOf(fixture, of),
    vouch: async (tenantId, users, vouched = true) => {
      for (const id of users) {
        await fixture.publish(userUpdated(tenantId, { id, vouched }));
        const where = 'tenant_id = $1 AND user_id = $2 AND vouched = $3';
        await heard(fixture, 'users', where, [tenantId, id, vouched]);
      }
    },
    keep: async (tenantId, name = 'db') => {
      const made = await admin(tenantId).post('/api/v1/vault/services', {
        name,
        credential_type: 'static',
        fields: ['user', 'password', 'extra'].map((field) => ({ name: field })),
      });
      if (made.status !== 201) throw new Error(`${made.status} ${made.text}`);
      const set = await admin(tenantId).put(`/api/v1/vault/services/${name}/secrets`, {
        fields: { user: 'ann', password: `secret of ${tenantId}` },
      });
      if (set.status !== 200) throw new Error(`${set.status} ${set.text}`);
    },
    eventsOf: async (tenantId) => {
      const { store } = fixture.host.needsOf('vault');
      const events = await store.readLog('vault', 0n, 100_000);
      return events.filter(({ metadata }) => metadata.tenantId === tenantId);
    },
  };
}

/** Without `vouched` it is an event from before users were vouched for. */
export const userUpdated = (
  tenantId: string,
  {
    id,
    ...more
  }: { readonly id: string; readonly status?: string; readonly vouched?: boolean | undefined },
) => ({
  source: 'identity' as const,
  type: 'user.updated',
  tenantId,
  streamId: `user-${id}`,
  data: {
    id,
    email: null,
    display_name: null,
    email_verified: true,
    roles: [],
    status: 'active',
    created_at: '2026-01-01T00:00:00.000Z',
    changed: ['vouched'],
    ...more,
  },
});

export function sessionOf(fixture: ServiceFixture, of: NewSession): Session {
  count += 1;
  const { tenantId, agentId = `agent-${count}`, sessionId = `session-${count}` } = of;
  const { fields = ['user', 'password'], services = ['db'], userId = 'ann', claims } = of;
  const { key, keyId } = fixture.tokens.agentKey({ tenantId, id: agentId });
  const capability = fixture.tokens.capability({
    tenantId,
    id: agentId,
    sessionId,
    keyId,
    userId,
    grants: services.map((s) => ({ s, f: fields })),
    ...(of.epoch === undefined ? {} : { epoch: of.epoch }),
    ...(claims === undefined ? {} : { claims }),
  });
  return {
    tenantId,
    agentId,
    sessionId,
    key,
    keyId,
    capability,
    vend: (body = {}, headers = {}) =>
      fixture.rest.post(
        `/api/v1/agent/sessions/${sessionId}/credentials`,
        { service_name: 'db', fields: FIELDS, ...body },
        { bearer: key, tenant: tenantId, headers: { 'x-service-token': capability, ...headers } },
      ),
  };
}

/** Waits until identity's events are in vault's tables. */
export const heard = (
  fixture: ServiceFixture,
  table: string,
  where: string,
  values: readonly unknown[],
) =>
  untilTrue(
    async () =>
      (
        await fixture.shared.database.system.query(
          `SELECT 1 FROM vault.${table} WHERE ${where}`,
          values,
        )
      ).rowCount > 0,
    { what: `a row of ${table}` },
  );

/** The data of a session of the user `ann`, as identity publishes it. */
export const sessionData = (
  { sessionId, agentId }: Pick<Session, 'sessionId' | 'agentId'>,
  epoch = 0,
) => ({
  id: sessionId,
  agent_id: agentId,
  user_id: 'ann',
  services: [],
  epoch,
  expires_at: new Date(Date.now() + 3_600_000).toISOString(),
});

export async function startSession(
  fixture: ServiceFixture,
  tenantId: string,
  session: Pick<Session, 'sessionId' | 'agentId'>,
  epoch = 0,
): Promise<void> {
  await fixture.publish({
    ...{ source: 'identity', type: 'agent_session.started', tenantId },
    streamId: `agent_session-${session.sessionId}`,
    data: {
      ...sessionData(session, epoch),
      purpose: null,
      started_at: new Date().toISOString(),
    },
  });
  await heard(fixture, 'agent_sessions', 'session_id = $1', [session.sessionId]);
}
