/** Requests as lists read them, whom and what they name, and the notifications that are to be sent. */
import { type Migration, protectTable } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE TABLE approval.requests (
        tenant_id text NOT NULL,
        id text NOT NULL,
        app_id text,
        agent_id text NOT NULL,
        agent_name text NOT NULL,
        user_id text NOT NULL,
        action text NOT NULL,
        resource text,
        reason jsonb,
        severity text NOT NULL,
        status text NOT NULL,
        ttl_seconds integer NOT NULL,
        binding jsonb,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        responded_at timestamptz,
        responded_by text,
        use_before timestamptz,
        consumed_at timestamptz,
        grant_id text,
        PRIMARY KEY (tenant_id, id)
      );
      CREATE INDEX requests_of_user ON approval.requests (tenant_id, user_id, created_at DESC);
      CREATE INDEX requests_by_status
        ON approval.requests (tenant_id, status, created_at DESC, id DESC);
      CREATE INDEX requests_by_age ON approval.requests (tenant_id, created_at DESC, id DESC);
      CREATE INDEX requests_pending ON approval.requests (expires_at) WHERE status = 'pending';

      CREATE TABLE approval.users (
        tenant_id text NOT NULL,
        user_id text NOT NULL,
        email text,
        display_name text,
        status text NOT NULL,
        PRIMARY KEY (tenant_id, user_id)
      );
      CREATE TABLE approval.agents (
        tenant_id text NOT NULL,
        agent_id text NOT NULL,
        name text NOT NULL,
        owner_user_id text,
        status text NOT NULL,
        PRIMARY KEY (tenant_id, agent_id)
      );
      CREATE TABLE approval.tenants (
        tenant_id text PRIMARY KEY,
        channels text[] NOT NULL,
        page_client_id text
      );
      CREATE TABLE approval.notification_jobs (
        tenant_id text NOT NULL,
        request_id text NOT NULL,
        channel text NOT NULL,
        user_id text NOT NULL,
        attempts integer NOT NULL DEFAULT 0,
        run_at timestamptz NOT NULL,
        state text NOT NULL,
        PRIMARY KEY (tenant_id, request_id, channel)
      );
      CREATE INDEX notification_jobs_due ON approval.notification_jobs (run_at);`);
    for (const table of ['requests', 'users', 'agents', 'tenants']) {
      await protectTable(knex, `approval.${table}`, { app: ['SELECT'] });
    }
    await protectTable(knex, 'approval.notification_jobs', { app: [] });
  },
};
