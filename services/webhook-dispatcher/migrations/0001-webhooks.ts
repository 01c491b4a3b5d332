/** Webhooks, what is to be sent to them, and what came of each attempt. */
import { type Migration, protectTable } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE TABLE webhooks.webhooks (
        id uuid PRIMARY KEY,
        tenant_id text COLLATE "C" NOT NULL,
        app_id text,
        url text NOT NULL,
        description text,
        events text[] NOT NULL,
        enabled boolean NOT NULL,
        disabled_reason text,
        -- Sealed: they sign as the secret does.
        keys text NOT NULL,
        key_version integer NOT NULL,
        created_at timestamptz NOT NULL
      );
      CREATE INDEX webhooks_of_tenant ON webhooks.webhooks (tenant_id, created_at, id);

      CREATE TABLE webhooks.deliveries (
        id uuid PRIMARY KEY,
        tenant_id text COLLATE "C" NOT NULL,
        webhook_id uuid NOT NULL,
        app_id text,
        message_id uuid NOT NULL,
        event text NOT NULL,
        origin text NOT NULL,
        subject text NOT NULL,
        -- Sealed.
        body text NOT NULL,
        traceparent text,
        created_at timestamptz NOT NULL
      );
      CREATE INDEX deliveries_by_age ON webhooks.deliveries (created_at);

      -- No body in here: each lease rewrites the row.
      CREATE TABLE webhooks.queue (
        delivery_id uuid PRIMARY KEY,
        tenant_id text COLLATE "C" NOT NULL,
        webhook_id uuid NOT NULL,
        origin text NOT NULL,
        subject text NOT NULL,
        run_at timestamptz NOT NULL,
        attempts_made smallint NOT NULL,
        position bigint NOT NULL,
        lease_owner text,
        lease_until timestamptz
      ) WITH (fillfactor = 60);
      CREATE INDEX queue_of_webhook ON webhooks.queue (webhook_id, run_at);
      CREATE INDEX queue_by_time ON webhooks.queue (run_at);
      CREATE INDEX queue_leased ON webhooks.queue (webhook_id) WHERE lease_until IS NOT NULL;
      CREATE INDEX queue_of_subject ON webhooks.queue (subject);

      CREATE TABLE webhooks.attempts (
        tenant_id text COLLATE "C" NOT NULL,
        attempted_at timestamptz NOT NULL,
        delivery_id uuid NOT NULL,
        n smallint NOT NULL,
        webhook_id uuid NOT NULL,
        app_id text,
        event text NOT NULL,
        origin text NOT NULL,
        status_code smallint NOT NULL,
        success boolean NOT NULL,
        duration_ms integer NOT NULL,
        error text,
        -- Sealed: whose key, and the box.
        excerpt jsonb,
        next_at timestamptz,
        final boolean NOT NULL,
        PRIMARY KEY (tenant_id, attempted_at, delivery_id, n)
      );
      CREATE INDEX attempts_of_webhook
        ON webhooks.attempts (tenant_id, webhook_id, attempted_at DESC);
      CREATE INDEX attempts_by_age ON webhooks.attempts (attempted_at);

      -- Users whose bodies are to become unreadable; filled by a consumer, emptied by a sweeper.
      CREATE TABLE webhooks.erasures (
        subject text PRIMARY KEY,
        tenant_id text COLLATE "C" NOT NULL,
        due_at timestamptz NOT NULL
      );`);
    await protectTable(knex, 'webhooks.webhooks', { app: ['SELECT'] });
    await protectTable(knex, 'webhooks.deliveries', { app: [] });
    await protectTable(knex, 'webhooks.queue', { app: [] });
    await protectTable(knex, 'webhooks.attempts', { app: ['SELECT'] });
    await protectTable(knex, 'webhooks.erasures', { app: [] });
  },
};
