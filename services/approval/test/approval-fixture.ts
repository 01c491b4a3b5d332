/** Runs approval alone on a real database, with a clock that tests set and users from published identity events. */
import { approvalWith } from '@cardea/approval';
import type { ConsumeApproval, OpenApproval } from '@cardea/contracts';
import type { RecordedEvent } from '@cardea/event-store';
import { type Clock, metrics, systemClock, uuidFrom } from '@cardea/runtime';
import type { Offers } from '@cardea/service';
import {
  type RestDriver,
  type ServiceFixture,
  serviceFixture,
  testDatabase,
  untilTrue,
} from '@cardea/testing';
import { afterAll, beforeAll } from 'vitest';

export type MovableClock = Clock & { move(ms: number): void };

export function movableClock(): MovableClock {
  let offsetMs = 0;
  return {
    ...systemClock,
    now: () => new Date(Date.now() + offsetMs),
    move: (ms) => {
      offsetMs += ms;
    },
  };
}

/** Stands still unless it is moved. */
export function stoppedClock(): MovableClock {
  let nowMs = Date.now();
  return {
    ...systemClock,
    now: () => new Date(nowMs),
    move: (ms) => {
      nowMs += ms;
    },
  };
}

/** Any answer, as tests read it. */
type Outcome = { readonly outcome: string; readonly [key: string]: unknown };

export type Vend = Partial<OpenApproval> & { readonly digest: string };

export type ApprovalFixture = ServiceFixture & {
  readonly clock: MovableClock;
  /** Creates a tenant with user `ann`, user `bob` and ann's agent `bot`, and tells the service about them. */
  people(name: string): Promise<Tenant>;
  open(tenantId: string, vend: Vend): Promise<Outcome>;
  consume(id: string, use: Omit<ConsumeApproval, 'id'>): Promise<Outcome>;
  /** Publishes identity's event that an administrator vouches for a user, or no longer does. */
  vouch(tenantId: string, user: string, vouched: boolean): Promise<void>;
  /** Publishes identity's event of the setting that says whom agents ask for access. */
  agentAccess(tenantId: string, access: AgentAccess): Promise<void>;
  eventsOf(tenantId: string): Promise<readonly RecordedEvent[]>;
};
/** The setting `agent_access`: a set as its text. Null means off. */
export type AgentAccess = { readonly approver: string; readonly max_seconds: number } | null;
export type Tenant = {
  readonly id: string;
  readonly ann: RestDriver;
  readonly bob: RestDriver;
  readonly admin: RestDriver;
  /** Calls of the agent on behalf of ann. */
  readonly bot: RestDriver;
};

type Options = Parameters<typeof approvalWith>[0] & {
  readonly env?: { readonly [name: string]: string };
  readonly peers?: Offers;
  readonly onLog?: (line: string) => void;
  readonly clock?: MovableClock;
};

/** What the tests of one file share, on a separate database. It is empty before they run. */
export function approvalOfFile(options: Options = {}): ApprovalFixture {
  const database = testDatabase();
  const fixture = {} as ApprovalFixture;
  let started: ApprovalFixture | undefined;
  beforeAll(async () => {
    started = Object.assign(fixture, await approvalFixture(database.url, options));
  });
  afterAll(async () => {
    await started?.stop();
  });
  return fixture;
}

export async function approvalFixture(
  databaseUrl: string,
  options: Options = {},
): Promise<ApprovalFixture> {
  const { env = {}, peers = {}, onLog, clock = movableClock(), ...given } = options;
  // No mail is sent or written to a folder unless a test reads the mail.
  const own = { mail: { send: async () => {}, close: () => {} }, ...given };
  const fixture = await serviceFixture({
    databaseUrl,
    definitions: [approvalWith(own)],
    clock,
    env,
    peers,
    ...(onLog === undefined ? {} : { onLog }),
  });
  const needs = fixture.host.needsOf('approval');
  const known = (tenantId: string) =>
    untilTrue(
      async () => {
        const { rows } = await needs.database.system.query(
          `SELECT 1 FROM approval.agents a
           JOIN approval.users u ON u.tenant_id = a.tenant_id AND u.user_id IN ('ann', 'bob')
           WHERE a.tenant_id = $1`,
          [tenantId],
        );
        return rows.length === 2;
      },
      { what: 'people have arrived' },
    );
  return {
    ...fixture,
    clock,
    people: async (name) => {
      const id = name;
      for (const user of ['ann', 'bob']) await fixture.publish(userCreated(id, user));
      await fixture.publish(agentCreated(id));
      await known(id);
      const as = (bearer: string) => fixture.rest.as({ tenant: id, bearer });
      return {
        id,
        ann: as(fixture.tokens.user({ tenantId: id, id: 'ann' })),
        bob: as(fixture.tokens.user({ tenantId: id, id: 'bob' })),
        admin: as(fixture.tokens.user({ tenantId: id, id: 'adm', roles: ['admin'] })),
        bot: as(fixture.tokens.agent({ tenantId: id, id: 'bot', sessionId: 's1', userId: 'ann' })),
      };
    },
    open: (tenantId, vend) => needs.peers.approval.open({ ...vendOf(tenantId), ...vend }),
    consume: (id, use) => needs.peers.approval.consume({ id, ...use }),
    vouch: async (tenantId, user, vouched) => {
      const changed = { vouched, changed: ['vouched'] };
      await fixture.publish(userEvent(tenantId, user, 'user.updated', changed));
      await untilTrue(async () => {
        const { rowCount } = await needs.database.system.query(
          'SELECT 1 FROM approval.users WHERE tenant_id = $1 AND user_id = $2 AND vouched = $3',
          [tenantId, user, vouched],
        );
        return rowCount > 0;
      });
    },
    agentAccess: async (tenantId, agent_access) => {
      await fixture.publish({
        source: 'identity',
        type: 'tenant.updated',
        tenantId,
        streamId: `tenant-${tenantId}`,
        data: {
          ...{ id: tenantId, organization_id: 'o', name: tenantId, slug: tenantId },
          ...{ display_name: tenantId, environment: 'production', approval_channels: ['webhook'] },
          ...{ created_at: '2026-01-01T00:00:00.000Z', changed: ['settings'], agent_access },
        },
      });
      await untilTrue(async () => {
        const { rowCount } = await needs.database.system.query(
          'SELECT 1 FROM approval.tenants WHERE tenant_id = $1 AND agent_access = $2::jsonb',
          [tenantId, JSON.stringify(agent_access ?? false)],
        );
        return rowCount > 0;
      });
    },
    eventsOf: async (tenantId) => {
      const events = await needs.store.readLog('approval', 0n, 100_000);
      return events.filter(({ metadata }) => metadata.tenantId === tenantId);
    },
  };
}

let vends = 0;
const vendOf = (tenantId: string): Omit<OpenApproval, 'digest'> => {
  vends += 1;
  return {
    command_id: uuidFrom('vend', String(vends)),
    tenant_id: tenantId,
    agent_id: 'bot',
    session_id: 's1',
    user_id: 'ann',
    service_name: 'github',
    fields: ['token'],
    policies: [{ id: 'p1', version: 1 }],
    severity: 'high',
    ttl_seconds: 300,
    use_window_seconds: 600,
    grant_ttl_seconds: 900,
    number_match: false,
    vouch_required: true,
    context: { ip: '10.0.0.1', user_agent: 'agent/1', app_id: null, request_id: null },
  };
};

export const userEvent = (tenantId: string, id: string, type: string, more: object) => ({
  source: 'identity' as const,
  type,
  tenantId,
  streamId: `user-${id}`,
  data: {
    id,
    email: `${id}@example.com`,
    display_name: id,
    email_verified: true,
    roles: ['member'],
    status: 'active',
    created_at: '2026-01-01T00:00:00.000Z',
    ...more,
  },
});
export const userCreated = (tenantId: string, id: string, vouched = true) =>
  userEvent(tenantId, id, 'user.created', { via: 'admin', vouched });

export const agentCreated = (tenantId: string, name = 'Deploy Bot', more: object = {}) => ({
  source: 'identity' as const,
  type: 'agent.created',
  tenantId,
  streamId: 'agent-bot',
  data: {
    id: 'bot',
    name,
    description: null,
    status: 'active',
    owner_user_id: 'ann',
    app_id: null,
    services: [],
    created_at: '2026-01-01T00:00:00.000Z',
    ...more,
  },
});

/** The number of notices of a kind with this outcome in this process so far. */
export async function noticesCounted(kind: string, outcome: string): Promise<number> {
  const { values } = await metrics.notices.get();
  const found = values.find(({ labels }) => labels.kind === kind && labels.outcome === outcome);
  return found?.value ?? 0;
}

/** A request of the agent to ann, unless stated otherwise. */
export const wanted = (more: object = {}) => ({
  agent_id: 'bot',
  user_id: 'ann',
  action: 'write_data',
  ...more,
});
