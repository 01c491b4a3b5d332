/** Keys and ciphertexts, which nothing can rebuild, and what lists and decisions of others are read from. */
import { type Migration, protectTable } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE TABLE vault.tenant_keys (
        tenant_id text COLLATE "C" NOT NULL,
        dek_version integer NOT NULL,
        kek_id text NOT NULL,
        wrapped bytea, -- null: shredded, never filled again
        state text NOT NULL CHECK (state IN ('active', 'decrypt_only', 'shredded')),
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant_id, dek_version)
      );
      CREATE TABLE vault.secret_versions (
        tenant_id text COLLATE "C" NOT NULL,
        secret_id uuid NOT NULL,
        owner_kind text NOT NULL CHECK (owner_kind IN ('field', 'config', 'connection', 'lease')),
        owner_id text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        version integer NOT NULL,
        dek_version integer NOT NULL,
        blob bytea, -- null: destroyed
        created_at timestamptz NOT NULL DEFAULT now(),
        confirmed_at timestamptz, -- when the sweeper found it in its service's stream
        destroyed_at timestamptz,
        PRIMARY KEY (tenant_id, secret_id)
      );
      CREATE INDEX secret_versions_owner
        ON vault.secret_versions (tenant_id, owner_id, name, version);
      CREATE INDEX secret_versions_unconfirmed ON vault.secret_versions (created_at)
        WHERE confirmed_at IS NULL AND blob IS NOT NULL;

      CREATE TABLE vault.services (
        tenant_id text COLLATE "C" NOT NULL,
        id text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        shown jsonb NOT NULL,
        created_at timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id)
      );
      CREATE INDEX services_newest ON vault.services (tenant_id, created_at DESC, id DESC);

      CREATE TABLE vault.grants (
        tenant_id text COLLATE "C" NOT NULL,
        grant_id text COLLATE "C" NOT NULL,
        slot text COLLATE "C" NOT NULL,
        session_id text COLLATE "C" NOT NULL,
        agent_id text COLLATE "C" NOT NULL,
        user_id text COLLATE "C",
        service_id text COLLATE "C" NOT NULL,
        service_name text COLLATE "C" NOT NULL,
        credential_type text NOT NULL,
        fields text[] NOT NULL,
        policies jsonb NOT NULL,
        approval_id text,
        capability_jti text NOT NULL,
        granted_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        superseded_at timestamptz,
        revoked_at timestamptz,
        cause text,
        PRIMARY KEY (tenant_id, grant_id)
      );
      CREATE INDEX grants_session ON vault.grants (tenant_id, session_id);
      CREATE INDEX grants_agent ON vault.grants (tenant_id, agent_id, granted_at DESC);
      CREATE INDEX grants_service ON vault.grants (tenant_id, service_id);
      CREATE INDEX grants_expiry ON vault.grants (expires_at);

      CREATE TABLE vault.agents (
        tenant_id text COLLATE "C" NOT NULL,
        agent_id text COLLATE "C" NOT NULL,
        services jsonb NOT NULL,
        status text NOT NULL,
        changed_at timestamptz NOT NULL, -- of what it may reach
        PRIMARY KEY (tenant_id, agent_id)
      );
      CREATE TABLE vault.agent_sessions (
        tenant_id text COLLATE "C" NOT NULL,
        session_id text COLLATE "C" NOT NULL,
        agent_id text COLLATE "C" NOT NULL,
        user_id text COLLATE "C",
        epoch integer NOT NULL,
        expires_at timestamptz NOT NULL,
        ended_at timestamptz,
        PRIMARY KEY (tenant_id, session_id)
      );
      CREATE TABLE vault.users (
        tenant_id text COLLATE "C" NOT NULL,
        user_id text COLLATE "C" NOT NULL,
        status text NOT NULL,
        PRIMARY KEY (tenant_id, user_id)
      );
      CREATE TABLE vault.approvals (
        tenant_id text COLLATE "C" NOT NULL,
        approval_id text COLLATE "C" NOT NULL,
        responded_by text NOT NULL,
        responded_at timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, approval_id)
      );`);
    await protectTable(knex, 'vault.tenant_keys', { app: ['SELECT', 'INSERT'] });
    await protectTable(knex, 'vault.secret_versions');
    for (const table of ['services', 'grants', 'agents', 'agent_sessions', 'users', 'approvals']) {
      await protectTable(knex, `vault.${table}`, { app: ['SELECT'] });
    }
  },
};
