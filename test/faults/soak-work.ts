/**
 * Ordinary requests of eight clients without pause: what users, administrators and agents of four tenants
 * typically do, each kind as often as its share says.
 */
import { type RestAnswer, type RestDriver, testForm } from '@cardea/testing';
import { caughtUp } from './caught-up.ts';
import type { Chance } from './chance.ts';
import { type Agent, must, PASSWORD, SERVICE, type Session, type Tenant } from './soak-tenant.ts';

const CLIENTS = 8;
/** If a user is deleted at once, the creation is rightly never announced, so deletions come later. */
const DELETED_AFTER_MS = testForm.long ? 10_000 : 4_000;
const RENEWED_EVERY_MS = 240_000;

/** The data that a soak verifies afterwards: nothing that was answered may be missing. */
export type Written = {
  readonly usersCreated: Set<string>;
  readonly usersDeleted: Set<string>;
  readonly tuplesWritten: Set<string>;
  readonly tuplesDeleted: Set<string>;
};

export type Timed = { readonly atMs: number; readonly ms: number };

export type Soak = {
  readonly written: ReadonlyMap<string, Written>;
  /** The times per kind of request, in order. */
  readonly times: ReadonlyMap<string, readonly Timed[]>;
  /** Answers other than the expected ones. */
  readonly wrong: readonly string[];
  /** Waits until the last users are deleted, and ends. */
  stop(): Promise<void>;
};

/** Runs until it is stopped. Two clients per tenant share only its agents. */
export function soak(rest: RestDriver, tenants: readonly Tenant[], chance: Chance): Soak {
  const written = new Map(tenants.map(({ id }) => [id, nothing()]));
  const times = new Map<string, Timed[]>();
  const wrong: string[] = [];
  const started = performance.now();
  let running = true;
  const timed = async (kind: string, work: () => Promise<RestAnswer>): Promise<RestAnswer> => {
    const before = performance.now();
    const answer = await caughtUp(work);
    const all = times.get(kind) ?? [];
    times.set(kind, all);
    all.push({ atMs: before - started, ms: performance.now() - before });
    return answer;
  };
  const client = async (number: number): Promise<void> => {
    const tenant = tenants[number % tenants.length] as Tenant;
    const mine = tenant.agents.filter((_, at) => at % 2 === Math.floor(number / tenants.length));
    const kept = written.get(tenant.id) as Written;
    const kinds = kindsOf({ rest, tenant, agents: mine, written: kept, number, chance, timed });
    const drawn = kinds.flatMap(({ share, work }) => Array.from({ length: share }, () => work));
    const step = async (work: () => Promise<void>): Promise<void> => {
      await work().catch((error: unknown) => wrong.push(String(error)));
    };
    while (running) await step(chance.oneOf(drawn));
    for (const { finish } of kinds) if (finish !== undefined) await step(finish);
  };
  const clients = Array.from({ length: CLIENTS }, (_, number) => client(number));
  const renewing = setInterval(() => {
    for (const tenant of tenants) tenant.renew().catch((error: unknown) => wrong.push(`${error}`));
  }, RENEWED_EVERY_MS);
  return {
    written,
    times,
    wrong,
    stop: async () => {
      running = false;
      await Promise.all(clients);
      clearInterval(renewing);
    },
  };
}

const nothing = (): Written => ({
  usersCreated: new Set(),
  usersDeleted: new Set(),
  tuplesWritten: new Set(),
  tuplesDeleted: new Set(),
});

type Kind = {
  /** The frequency, relative to the sum of all shares. */
  readonly share: number;
  readonly work: () => Promise<void>;
  /** The remaining work when the client ends. */
  readonly finish?: () => Promise<void>;
};

type Client = {
  readonly rest: RestDriver;
  readonly tenant: Tenant;
  readonly agents: readonly Agent[];
  readonly written: Written;
  readonly number: number;
  readonly chance: Chance;
  readonly timed: (kind: string, work: () => Promise<RestAnswer>) => Promise<RestAnswer>;
};

const kindsOf = (client: Client): readonly Kind[] => [
  ...tupleKinds(client),
  ...signInKinds(client),
  ...agentKinds(client),
  userKind(client),
  ...readKinds(client),
];

function tupleKinds({ tenant, number, written, timed }: Client): readonly Kind[] {
  let count = 0;
  const tupleOf = (object_id: string) => ({
    user_type: 'user',
    user_id: 'ann',
    relation: 'viewer',
    object_type: 'document',
    object_id,
  });
  const last = () => tupleOf(`${number}-${count}`);
  return [
    {
      share: 6,
      work: async () => {
        const answer = await must(
          200,
          timed('check', () => tenant.admin.post('/api/v1/fga/check', last())),
        );
        if (answer.body.allowed !== count > 0) throw new Error(`check: ${answer.text}`);
      },
    },
    {
      share: 3,
      work: async () => {
        const before = count > 0 ? last() : undefined;
        count += 1;
        await must(
          201,
          timed('tuple written', () => tenant.admin.post('/api/v1/fga/tuples', last())),
        );
        written.tuplesWritten.add(last().object_id);
        if (before === undefined) return;
        const remove = () => tenant.admin.call('DELETE', '/api/v1/fga/tuples', { body: before });
        await must(200, timed('tuple deleted', remove));
        written.tuplesDeleted.add(before.object_id);
      },
    },
  ];
}

function signInKinds({ rest, tenant, timed }: Client): readonly Kind[] {
  const open = rest.as({ tenant: tenant.id });
  const credentials = { ...tenant.member, password: PASSWORD };
  let refreshToken: string | undefined;
  const signIn = async (): Promise<void> => {
    const answer = await must(
      200,
      timed('sign-in', () => open.post('/api/v1/auth/login', credentials)),
    );
    refreshToken = answer.body.refresh_token;
  };
  return [
    { share: 1, work: signIn },
    {
      share: 2,
      work: async () => {
        if (refreshToken === undefined) return await signIn();
        const body = { refresh_token: refreshToken };
        const answer = await must(
          200,
          timed('refresh', () => open.post('/api/v1/auth/refresh', body)),
        );
        refreshToken = answer.body.refresh_token;
      },
    },
  ];
}

function agentKinds({ rest, tenant, agents, chance, timed }: Client): readonly Kind[] {
  const vend = async (kind: string, { key }: Agent, { id, capability }: Session): Promise<void> => {
    const path = `/api/v1/agent/sessions/${id}/credentials`;
    const call = { headers: { 'x-service-token': capability } };
    const body = { service_name: SERVICE, fields: ['password'] };
    const own = rest.as({ bearer: key, tenant: tenant.id });
    const { body: answer } = await must(
      200,
      timed(kind, () => own.post(path, body, call)),
    );
    if (answer.data.fields.password !== 'kept') throw new Error(`${kind}: another value`);
  };
  const session = async (agent: Agent): Promise<Session> => {
    const own = rest.as({ bearer: agent.key, tenant: tenant.id });
    const services = [{ service_name: SERVICE, fields: ['password'] }];
    const start = () => own.post('/api/v1/agent/sessions', { services, purpose: 'soak' });
    const { body } = await must(201, timed('agent session', start));
    agent.session = { id: body.data.id, capability: body.data.capability_token };
    await vend('fresh vend', agent, agent.session);
    return agent.session;
  };
  return [
    { share: 2, work: async () => void (await session(chance.oneOf(agents))) },
    {
      share: 3,
      work: async () => {
        const agent = chance.oneOf(agents);
        await vend('live vend', agent, agent.session ?? (await session(agent)));
      },
    },
  ];
}

function userKind({ tenant, number, written, timed }: Client): Kind {
  const standing: { readonly id: string; readonly atMs: number }[] = [];
  let count = 0;
  const remove = async (id: string): Promise<void> => {
    await must(
      200,
      timed('user deleted', () => tenant.admin.delete(`/api/v1/admin/users/${id}`)),
    );
    written.usersDeleted.add(id);
  };
  return {
    share: 1,
    work: async () => {
      const [oldest] = standing;
      if (oldest !== undefined && performance.now() - oldest.atMs > DELETED_AFTER_MS) {
        standing.shift();
        return await remove(oldest.id);
      }
      count += 1;
      const user = { email: `user${number}-${count}@example.com`, password: PASSWORD };
      const create = () =>
        tenant.admin.post('/api/v1/admin/users', { ...user, email_verified: true });
      const { body } = await must(201, timed('user created', create));
      written.usersCreated.add(body.id);
      standing.push({ id: body.id, atMs: performance.now() });
    },
    finish: async () => {
      for (const { id, atMs } of standing) {
        const leftMs = Math.max(0, atMs + DELETED_AFTER_MS - performance.now());
        await new Promise((resolve) => setTimeout(resolve, leftMs));
        await remove(id);
      }
    },
  };
}

function readKinds({ tenant, chance, timed }: Client): readonly Kind[] {
  const lists = ['admin/users', 'fga/tuples', 'agents', 'webhooks/deliveries'];
  const read = (kind: string, path: string) => async (): Promise<void> => {
    await must(
      200,
      timed(kind, () => tenant.admin.get(path)),
    );
  };
  return [
    { share: 2, work: () => read('list', `/api/v1/${chance.oneOf(lists)}`)() },
    { share: 1, work: read('audit page', '/api/v1/audit/events') },
  ];
}
