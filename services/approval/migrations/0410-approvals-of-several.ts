/** A person sees what they have approved as one of several, also where somebody else gave the last approval. */
import { type Migration, protectTable } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    // The operators of jsonb use no index under row-level security, so each person has a row.
    await knex.raw(`
      CREATE TABLE approval.approvals_given (
        tenant_id text NOT NULL,
        request_id text NOT NULL,
        user_id text NOT NULL,
        created_at timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, request_id, user_id)
      );
      CREATE INDEX approvals_given_by
        ON approval.approvals_given (tenant_id, user_id, created_at DESC, request_id DESC);
      INSERT INTO approval.approvals_given (tenant_id, request_id, user_id, created_at)
        SELECT r.tenant_id, r.id, u.user_id, r.created_at
        FROM approval.requests r, jsonb_array_elements_text(r.responders) AS u (user_id)
        WHERE r.responders IS NOT NULL;`);
    await protectTable(knex, 'approval.approvals_given', { app: ['SELECT'] });
  },
};
