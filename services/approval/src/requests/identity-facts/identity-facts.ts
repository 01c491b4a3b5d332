/** Users, agents and tenants from identity's events. The rows may lag for a while. */
import { AGENT_ACCESS_SECONDS_DEFAULT, type ApproverSet, readApproverSet } from '@cardea/contracts';
import { DEFAULT_LANGUAGE, knownLanguage, type Language, type MailBrand } from '@cardea/mail';
import { languageOfLocale } from '@cardea/pages';
import { computed, type Database, orNull, type RowOf, selection } from '@cardea/read-models';
import type { Clock } from '@cardea/runtime';
import type { AgentCopy } from '@cardea/service';
import { LATE_ROW_PAUSES_MS } from '../limits.ts';
import { agents, tenantRows, users } from './copies.ts';

type Person = {
  readonly email: string;
  readonly status: string;
  readonly vouched: boolean;
  /** The position of identity's event from which the row was written. */
  readonly position: bigint;
};
/** The person who decides in another person's place, and the period in which they do. */
export type DeputyPeriod = {
  readonly userId: string;
  readonly from: Date;
  readonly until: Date;
};
type Agent = {
  readonly name: string;
  readonly ownerUserId: string | null;
  readonly status: string;
  /** Users and sets to which the agent may send requests, in addition to its session's user and its owner. */
  readonly approvers: readonly string[];
};

type Around = {
  readonly user: Person | undefined;
  /** The deputy of the user, even if the deputyship is over or has not begun. */
  readonly deputy: DeputyPeriod | undefined;
  readonly agent: Agent | undefined;
  readonly channels: readonly string[];
};

export type MailLook = { readonly language: Language; readonly brand: MailBrand };

const LOOK = tenantRows
  .select('language', 'display_name', 'brand_color')
  .of('t')
  .joined()
  .and(users.select('locale').of('u').joined());

/** The set to which the tenant's agents send requests for access, and the longest time for which they can get it. */
export type AgentAccess = { readonly approver: ApproverSet; readonly max_seconds: number };

const AGENT_ACCESS = tenantRows.select('agent_access');

export type IdentityFacts = {
  /** Reads all rows that one request needs in a single query. */
  around(tenantId: string, userId: string, agentId: string): Promise<Around>;
  user(tenantId: string, id: string): Promise<Person | undefined>;
  /** The user, and the person who decides in their place, in one query. */
  addressee(
    tenantId: string,
    id: string,
  ): Promise<(Person & { readonly deputy: DeputyPeriod | undefined }) | undefined>;
  /** The user's display name. Undefined if they have none. */
  name(tenantId: string, userId: string): Promise<string | undefined>;
  /**
   * The user's display name, otherwise the address, otherwise the id. Show it only to a person who has to do with that
   * user.
   */
  nameOrAddress(tenantId: string, userId: string): Promise<string>;
  agent(tenantId: string, id: string): Promise<Agent | undefined>;
  /** The channels in the order of sending. */
  channels(tenantId: string): Promise<readonly string[]>;
  /** Returns undefined if the tenant's agents may not request access. */
  agentAccess(tenantId: string): Promise<AgentAccess | undefined>;
  /** The appearance of the tenant's mails. For a user it includes the language that the user has chosen. */
  mailLook(tenantId: string, userId?: string): Promise<MailLook>;
};

/** Identity's own default, used until identity has published the setting. */
const AGENT_ACCESS_DEFAULT: AgentAccess = {
  approver: { role: 'admin' },
  max_seconds: AGENT_ACCESS_SECONDS_DEFAULT,
};
/** Identity's own default (`docs/design/approval.md`, Messages to the user). */
const CHANNELS_DEFAULT = ['email', 'webhook', 'chat', 'push'];

const DEPUTY = selection({ deputy: 'text', from_at: 'timestamptz', until_at: 'timestamptz' })
  .of('d')
  .joined();
const ADDRESSEE = users.select('email', 'status', 'vouched', 'position').of('u').and(DEPUTY);
const AROUND_REQUEST = users
  .select('email', 'vouched')
  .of('u')
  .joined()
  .and(computed('user_status', 'u.status', orNull('text')))
  .and(computed('user_position', 'u.position', orNull('bigint')))
  .and(agents.select('name', 'owner_user_id', 'approvers').of('a').joined())
  .and(computed('agent_status', 'a.status', orNull('text')))
  .and(tenantRows.select('channels').of('t').joined())
  .and(DEPUTY);
type AroundRequest = RowOf<typeof AROUND_REQUEST>;
const NO_ROW: AroundRequest = {
  email: null,
  user_status: null,
  vouched: null,
  user_position: null,
  name: null,
  owner_user_id: null,
  agent_status: null,
  approvers: null,
  channels: null,
  deputy: null,
  from_at: null,
  until_at: null,
};
const AROUND = `
  SELECT ${AROUND_REQUEST.columns}
  FROM (SELECT $1::text AS tenant_id) x
  LEFT JOIN approval.users u ON u.tenant_id = x.tenant_id AND u.user_id = $2
  LEFT JOIN approval.agents a ON a.tenant_id = x.tenant_id AND a.agent_id = $3
  LEFT JOIN approval.tenants t ON t.tenant_id = x.tenant_id
  LEFT JOIN approval.deputies d ON d.tenant_id = x.tenant_id AND d.user_id = $2`;

const periodOf = ({ deputy, from_at, until_at }: RowOf<typeof DEPUTY>): DeputyPeriod | undefined =>
  deputy === null || from_at === null || until_at === null
    ? undefined
    : { userId: deputy, from: from_at, until: until_at };

export function identityFacts(database: Database): IdentityFacts {
  const one = oneRowIn(database);
  return {
    around: async (tenantId, userId, agentId) => {
      const row = await one<AroundRequest>(tenantId, AROUND, userId, agentId);
      const { email, user_status, vouched, user_position, name } = row ?? NO_ROW;
      const { owner_user_id, agent_status, approvers, channels } = row ?? NO_ROW;
      return {
        user:
          user_status === null
            ? undefined
            : {
                email: email ?? '',
                status: user_status,
                vouched: vouched === true,
                position: BigInt(user_position ?? 0),
              },
        agent:
          name === null || agent_status === null
            ? undefined
            : agentIn({ name, owner_user_id, status: agent_status, approvers: approvers ?? [] }),
        channels: channels ?? CHANNELS_DEFAULT,
        deputy: row === undefined ? undefined : periodOf(row),
      };
    },
    ...addresseesIn(one),
    user: async (tenantId, id) => {
      const row = await users.find(database, tenantId, id);
      if (row === undefined) return undefined;
      const { email, status, vouched, position } = row;
      return { email: email ?? '', status, vouched, position };
    },
    agent: async (tenantId, id) => {
      const row = await agents.find(database, tenantId, id);
      return row && agentIn(row);
    },
    channels: async (tenantId) => {
      const row = await one<{ channels: string[] }>(
        tenantId,
        'SELECT channels FROM approval.tenants WHERE tenant_id = $1',
      );
      return row?.channels ?? CHANNELS_DEFAULT;
    },
    agentAccess: async (tenantId) => {
      const row = await one<RowOf<typeof AGENT_ACCESS>>(
        tenantId,
        `SELECT ${AGENT_ACCESS.columns} FROM approval.tenants WHERE tenant_id = $1`,
      );
      return agentAccessIn(row?.agent_access ?? null);
    },
    mailLook: async (tenantId, userId = '') => {
      const row = await one<RowOf<typeof LOOK>>(
        tenantId,
        `SELECT ${LOOK.columns}
         FROM (SELECT $1::text AS tenant_id) x
         LEFT JOIN approval.tenants t ON t.tenant_id = x.tenant_id
         LEFT JOIN approval.users u ON u.tenant_id = x.tenant_id AND u.user_id = $2`,
        userId,
      );
      return {
        language:
          languageOfLocale(row?.locale ?? null) ??
          knownLanguage(row?.language ?? '') ??
          DEFAULT_LANGUAGE,
        brand: { name: row?.display_name ?? '', color: row?.brand_color ?? null },
      };
    },
  };
}

const agentIn = ({
  name,
  owner_user_id: ownerUserId,
  status,
  approvers,
}: Pick<AgentCopy, 'name' | 'owner_user_id' | 'status' | 'approvers'>): Agent => ({
  name,
  ownerUserId,
  status,
  approvers,
});

function agentAccessIn(said: RowOf<typeof AGENT_ACCESS>['agent_access']): AgentAccess | undefined {
  if (said === null) return AGENT_ACCESS_DEFAULT;
  const approver = said === false ? undefined : readApproverSet(said.approver);
  if (said === false || approver === undefined) return undefined;
  return { approver, max_seconds: said.max_seconds };
}

type ReadOne = <Row extends object>(
  tenantId: string,
  sql: string,
  ...ids: readonly string[]
) => Promise<Row | undefined>;

const oneRowIn =
  (database: Database): ReadOne =>
  async <Row extends object>(tenantId: string, sql: string, ...ids: readonly string[]) => {
    const { rows } = await database.tenant(tenantId).query<Row>(sql, [tenantId, ...ids]);
    return rows[0];
  };

const addresseesIn = (
  one: ReadOne,
): Pick<IdentityFacts, 'addressee' | 'name' | 'nameOrAddress'> => ({
  addressee: async (tenantId, id) => {
    const row = await one<RowOf<typeof ADDRESSEE>>(
      tenantId,
      `SELECT ${ADDRESSEE.columns}
         FROM approval.users u
         LEFT JOIN approval.deputies d ON d.tenant_id = u.tenant_id AND d.user_id = u.user_id
         WHERE u.tenant_id = $1 AND u.user_id = $2`,
      id,
    );
    if (row === undefined) return undefined;
    const { email, status, vouched, position } = row;
    const user = { email: email ?? '', status, vouched, position: BigInt(position) };
    return { ...user, deputy: periodOf(row) };
  },
  name: async (tenantId, userId) => {
    const { name } = await namesOf(one, tenantId, userId);
    return name === '' ? undefined : name;
  },
  nameOrAddress: async (tenantId, userId) => {
    const { name, email } = await namesOf(one, tenantId, userId);
    return name || email || userId;
  },
});

const NAMES = users.select('display_name', 'email');

async function namesOf(one: ReadOne, tenantId: string, userId: string) {
  const row = await one<RowOf<typeof NAMES>>(
    tenantId,
    `SELECT ${NAMES.columns} FROM approval.users WHERE tenant_id = $1 AND user_id = $2`,
    userId,
  );
  return { name: row?.display_name ?? '', email: row?.email ?? '' };
}

/** `invited`: the account waits for its owner, and nobody signs in to it. */
const INACTIVE: readonly string[] = ['disabled', 'invited', 'suspended', 'deleted'];

export const isActive = (one: { readonly status: string } | undefined): boolean =>
  one === undefined || !INACTIVE.includes(one.status);

/** The bus may lag after a sign-up, so a missing row is read again twice. */
export async function patiently<Row>(
  clock: Clock,
  look: () => Promise<Row | undefined>,
): Promise<Row | undefined> {
  for (const pauseMs of LATE_ROW_PAUSES_MS) {
    const row = await look();
    if (row !== undefined) return row;
    await clock.sleep(pauseMs);
  }
  return look();
}
