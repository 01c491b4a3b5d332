/** What the lists of keys, agents, delegations and agent sessions read. */
import { type Migration, protectTable } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE TABLE identity.api_keys (
        id text PRIMARY KEY,
        tenant_id text NOT NULL,
        name text NOT NULL,
        scopes text[] NOT NULL,
        environment text NOT NULL,
        app_id text,
        created_by text,
        created_at timestamptz NOT NULL,
        expires_at timestamptz,
        last_used_at timestamptz,
        revoked_at timestamptz
      );
      CREATE INDEX api_keys_newest ON identity.api_keys (tenant_id, created_at DESC, id);

      CREATE TABLE identity.agents (
        id text PRIMARY KEY,
        tenant_id text NOT NULL,
        app_id text,
        name text NOT NULL,
        description text,
        status text NOT NULL,
        owner_user_id text,
        services jsonb NOT NULL,
        created_at timestamptz NOT NULL
      );
      CREATE INDEX agents_newest ON identity.agents (tenant_id, created_at DESC, id);

      CREATE TABLE identity.agent_keys (
        id text PRIMARY KEY,
        tenant_id text NOT NULL,
        agent_id text NOT NULL,
        name text NOT NULL,
        environment text NOT NULL,
        allowed_cidrs text[] NOT NULL,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        last_used_at timestamptz,
        revoked_at timestamptz
      );
      CREATE INDEX agent_keys_agent ON identity.agent_keys (agent_id);

      CREATE TABLE identity.delegations (
        id text PRIMARY KEY,
        tenant_id text NOT NULL,
        user_id text NOT NULL,
        agent_id text NOT NULL,
        services jsonb NOT NULL,
        created_at timestamptz NOT NULL,
        expires_at timestamptz,
        withdrawn_at timestamptz
      );
      CREATE INDEX delegations_user ON identity.delegations (user_id);

      CREATE TABLE identity.agent_sessions (
        id text PRIMARY KEY,
        tenant_id text NOT NULL,
        agent_id text NOT NULL,
        key_id text NOT NULL,
        user_id text,
        services jsonb NOT NULL,
        epoch integer NOT NULL,
        purpose text,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        ended_at timestamptz
      );
      CREATE INDEX agent_sessions_agent
        ON identity.agent_sessions (tenant_id, agent_id, created_at DESC);
      CREATE INDEX agent_sessions_user ON identity.agent_sessions (user_id);
      CREATE INDEX agent_sessions_open ON identity.agent_sessions (expires_at)
        WHERE ended_at IS NULL;
    `);
    for (const table of ['api_keys', 'agents', 'agent_keys', 'delegations', 'agent_sessions']) {
      await protectTable(knex, `identity.${table}`, { app: ['SELECT'] });
    }
  },
};
