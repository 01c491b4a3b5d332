/** Users, agents and tenants from identity's events. The rows may lag for a while. */
import { DEFAULT_LANGUAGE, knownLanguage, type Language, type MailBrand } from '@cardea/mail';
import { languageOfLocale } from '@cardea/pages';
import type { Database } from '@cardea/read-models';
import type { Clock } from '@cardea/runtime';
import { LATE_ROW_PAUSES_MS } from '../limits.ts';
import { agents, users } from './copies.ts';

type Person = {
  readonly email: string;
  readonly status: string;
  readonly vouched: boolean;
  /** The position of the event of identity that the row comes from. */
  readonly position: bigint;
};
type Agent = {
  readonly name: string;
  readonly ownerUserId: string | null;
  readonly status: string;
};

type Around = {
  readonly user: Person | undefined;
  readonly agent: Agent | undefined;
  readonly channels: readonly string[];
};

export type MailLook = { readonly language: Language; readonly brand: MailBrand };

type TenantLookRow = {
  readonly language: string | null;
  readonly display_name: string | null;
  readonly brand_color: string | null;
  readonly locale: string | null;
};

export type IdentityFacts = {
  /** All rows that one request needs, in a single query. */
  around(tenantId: string, userId: string, agentId: string): Promise<Around>;
  user(tenantId: string, id: string): Promise<Person | undefined>;
  agent(tenantId: string, id: string): Promise<Agent | undefined>;
  /** In order of sending. */
  channels(tenantId: string): Promise<readonly string[]>;
  /** How the tenant's mails look; one to a user has that user's language, where they chose one. */
  mailLook(tenantId: string, userId?: string): Promise<MailLook>;
};

/** Identity's own default (`docs/design/approval.md`, Messages to the user). */
const CHANNELS_DEFAULT = ['email', 'webhook', 'chat', 'push'];

type AroundRow = {
  readonly email: string | null;
  readonly user_status: string | null;
  readonly vouched: boolean | null;
  readonly user_position: string | null;
  readonly name: string | null;
  readonly owner_user_id: string | null;
  readonly agent_status: string | null;
  readonly channels: readonly string[] | null;
};
const NO_ROW: AroundRow = {
  email: null,
  user_status: null,
  vouched: null,
  user_position: null,
  name: null,
  owner_user_id: null,
  agent_status: null,
  channels: null,
};
const AROUND = `
  SELECT u.email, u.status AS user_status, u.vouched, u.position AS user_position, a.name, a.owner_user_id, a.status AS agent_status,
         t.channels
  FROM (SELECT $1::text AS tenant_id) x
  LEFT JOIN approval.users u ON u.tenant_id = x.tenant_id AND u.user_id = $2
  LEFT JOIN approval.agents a ON a.tenant_id = x.tenant_id AND a.agent_id = $3
  LEFT JOIN approval.tenants t ON t.tenant_id = x.tenant_id`;

export function identityFacts(database: Database): IdentityFacts {
  const one = async <Row extends object>(
    tenantId: string,
    sql: string,
    ...ids: readonly string[]
  ): Promise<Row | undefined> => {
    const values = [tenantId, ...ids];
    const { rows } = await database.tenant(tenantId).query<Row>(sql, values);
    return rows[0];
  };
  return {
    around: async (tenantId, userId, agentId) => {
      const row = await one<AroundRow>(tenantId, AROUND, userId, agentId);
      const { email, user_status, vouched, user_position, name } = row ?? NO_ROW;
      const { owner_user_id, agent_status, channels } = row ?? NO_ROW;
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
            : { name, ownerUserId: owner_user_id, status: agent_status },
        channels: channels ?? CHANNELS_DEFAULT,
      };
    },
    user: async (tenantId, id) => {
      const row = await users.find(database, tenantId, id);
      if (row === undefined) return undefined;
      const { email, status, vouched, position } = row;
      return { email: email ?? '', status, vouched, position };
    },
    agent: async (tenantId, id) => {
      const row = await agents.find(database, tenantId, id);
      if (row === undefined) return undefined;
      return { name: row.name, ownerUserId: row.owner_user_id, status: row.status };
    },
    channels: async (tenantId) => {
      const row = await one<{ channels: string[] }>(
        tenantId,
        'SELECT channels FROM approval.tenants WHERE tenant_id = $1',
      );
      return row?.channels ?? CHANNELS_DEFAULT;
    },
    mailLook: async (tenantId, userId = '') => {
      const row = await one<TenantLookRow>(
        tenantId,
        `SELECT t.language, t.display_name, t.brand_color, u.locale
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

/** `invited`: the account waits for its owner, and nobody signs in to it. */
const INACTIVE: readonly string[] = ['disabled', 'invited', 'suspended', 'deleted'];

export const isActive = (one: { readonly status: string } | undefined): boolean =>
  one === undefined || !INACTIVE.includes(one.status);

/** The bus may lag after a sign-up, so a missing row is read again, twice. */
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
