/**
 * Channels, and what waits for them. A tenant whose channels are e-mail and webhooks has never refused the others,
 * which did not exist: they are told where it makes one.
 */
import { type Migration, protectTable } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE TABLE approval.channels (
        tenant_id text NOT NULL,
        id text NOT NULL,
        name text NOT NULL,
        format text NOT NULL,
        url jsonb NOT NULL,
        token jsonb,
        origin text NOT NULL,
        recipient text,
        owner text,
        min_severity text NOT NULL,
        enabled boolean NOT NULL,
        created_at timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id)
      );
      CREATE TABLE approval.channel_jobs (
        tenant_id text NOT NULL,
        channel_id text NOT NULL,
        request_id text NOT NULL,
        run_at timestamptz NOT NULL,
        attempts integer NOT NULL DEFAULT 0,
        PRIMARY KEY (tenant_id, channel_id, request_id)
      );
      CREATE TABLE approval.channel_states (
        tenant_id text NOT NULL,
        channel_id text NOT NULL,
        attempted_at timestamptz NOT NULL,
        next_at timestamptz NOT NULL,
        failures integer NOT NULL,
        last_error text,
        last_sent_at timestamptz,
        PRIMARY KEY (tenant_id, channel_id)
      );
      UPDATE approval.tenants SET channels = channels || ARRAY['chat', 'push']
      WHERE channels = ARRAY['email', 'webhook'];`);
    await protectTable(knex, 'approval.channels', { app: ['SELECT'] });
    await protectTable(knex, 'approval.channel_jobs', { app: ['SELECT', 'INSERT'] });
    await protectTable(knex, 'approval.channel_states', { app: ['SELECT', 'UPDATE'] });
  },
};
