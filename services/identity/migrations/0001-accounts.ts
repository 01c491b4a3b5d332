/** What the lists and look-ups of accounts read: workspaces, users, sessions, mail that waits, marks. */
import { type Migration, protectTable } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE TABLE identity.organizations (
        id text PRIMARY KEY,
        tenant_id text NOT NULL,
        name text NOT NULL,
        audit_retention_days integer NOT NULL,
        created_at timestamptz NOT NULL
      );
      CREATE TABLE identity.tenants (
        id text PRIMARY KEY,
        tenant_id text NOT NULL,
        organization_id text NOT NULL,
        name text NOT NULL,
        slug text NOT NULL UNIQUE,
        display_name text NOT NULL,
        environment text NOT NULL,
        created_at timestamptz NOT NULL,
        deleted_at timestamptz
      );
      CREATE INDEX tenants_organization ON identity.tenants (organization_id);
      CREATE TABLE identity.applications (
        id text PRIMARY KEY,
        tenant_id text NOT NULL,
        name text NOT NULL,
        environment text NOT NULL,
        type text NOT NULL,
        publishable_key text NOT NULL UNIQUE,
        created_at timestamptz NOT NULL,
        deleted_at timestamptz
      );
      CREATE INDEX applications_tenant ON identity.applications (tenant_id, created_at, id);

      CREATE TABLE identity.users (
        id text PRIMARY KEY,
        tenant_id text NOT NULL,
        email text, -- null: erased before this row was written, which its removal follows
        email_verified boolean NOT NULL,
        display_name text,
        avatar_url text,
        roles text[] NOT NULL,
        status text NOT NULL,
        has_password boolean NOT NULL,
        mfa_enabled boolean NOT NULL,
        identities text[] NOT NULL,
        epoch integer NOT NULL,
        keep_sid text,
        last_login_at timestamptz,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL
      );
      -- Not unique: an address that is given away within one batch stands twice for a moment. Its
      -- reservation is what makes it one user's.
      CREATE INDEX users_email ON identity.users (tenant_id, email text_pattern_ops);
      CREATE INDEX users_name ON identity.users (tenant_id, lower(display_name) text_pattern_ops);
      CREATE INDEX users_newest ON identity.users (tenant_id, created_at DESC, id);
      CREATE INDEX users_roles ON identity.users USING gin (roles);

      CREATE TABLE identity.sessions (
        id text PRIMARY KEY,
        tenant_id text NOT NULL,
        user_id text NOT NULL,
        user_epoch integer NOT NULL,
        kind text NOT NULL,
        client_id text,
        consent_id text,
        app_id text,
        ip_address text,
        user_agent text,
        browser text NOT NULL,
        browser_version text NOT NULL,
        os text NOT NULL,
        os_version text NOT NULL,
        device_type text,
        started_at timestamptz NOT NULL,
        last_active_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        revoked_at timestamptz
      );
      CREATE INDEX sessions_alive ON identity.sessions (user_id, last_active_at DESC)
        WHERE revoked_at IS NULL;
      CREATE INDEX sessions_expiry ON identity.sessions (expires_at);

      -- Mail that was asked for and not yet sent; holds no address.
      CREATE TABLE identity.mail_queue (
        mailbox text NOT NULL,
        purpose text NOT NULL,
        generation integer NOT NULL,
        tenant_id text NOT NULL,
        attempts integer NOT NULL,
        due_at timestamptz NOT NULL,
        PRIMARY KEY (mailbox, purpose, generation)
      );
      CREATE INDEX mail_queue_due ON identity.mail_queue (due_at);

      -- What ended a credential before its time; the shared cache is filled from here when it comes back empty.
      CREATE TABLE identity.revocations (
        kind text NOT NULL,
        id text NOT NULL,
        tenant_id text NOT NULL,
        marked_at timestamptz NOT NULL,
        PRIMARY KEY (kind, id)
      );
      CREATE INDEX revocations_time ON identity.revocations (marked_at);
    `);
    for (const table of [
      'organizations',
      'tenants',
      'applications',
      'users',
      'sessions',
      'mail_queue',
      'revocations',
    ]) {
      await protectTable(knex, `identity.${table}`, { app: ['SELECT'] });
    }
  },
};
