/** Lists grants and returns one by id, with the basis of each. */
import { NullableTime, named, PAGE_SIZE_DEFAULT, pageAnswer, pageQuery } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { READS } from '../../administration.ts';
import { PolicyVersionShape } from '../../policies/policies.module.ts';
import {
  agentOnly,
  findGrant,
  grantFields,
  grantsAreLevel,
  pageOfGrants,
  StatusShape,
  shownGrant,
} from '../grant-list.ts';

type ListGrantsDependencies = Pick<
  ServiceDependencies,
  'clock' | 'database' | 'positions' | 'store'
>;

const Text = Type.String({ minLength: 1, maxLength: 128 });
const nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const WHO = [...READS, 'agent_key'] as const;

export const listGrantsRoute = (vault: ListGrantsDependencies): Endpoint =>
  endpoint(
    {
      tag: 'Vault',
      name: 'list_grants',
      machine: 'vault:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'Grants, newest first; an agent sees its own',
      description:
        'Lists what was handed out, newest first and without values, 50 unless `limit` says otherwise. An agent sees its own grants.',
      method: 'get',
      path: '/api/v1/vault/grants',
      who: WHO,
      query: Type.Object({
        ...pageQuery,
        session_id: Type.Optional(Text),
        agent_id: Type.Optional(Text),
        service_name: Type.Optional(Text),
        status: Type.Optional(StatusShape),
      }),
      ok: Type.Object({
        grants: Type.Array(named('Grant', Type.Object(grantFields))),
        ...pageAnswer,
      }),
      refusals: {},
    },
    async ({ tenantId, query, principal }) => {
      const { offset = 0, limit = PAGE_SIZE_DEFAULT } = query;
      await grantsAreLevel(vault);
      const filter = {
        tenantId,
        now: vault.clock.now(),
        ownAgentId: agentOnly(principal),
        agentId: query.agent_id,
        sessionId: query.session_id,
        serviceName: query.service_name,
        status: query.status,
      };
      const { rows, total } = await pageOfGrants(vault.database, filter, { offset, limit });
      return { ok: { grants: rows.map(shownGrant), total, offset, limit } };
    },
  );

export const getGrantRoute = (vault: ListGrantsDependencies): Endpoint =>
  endpoint(
    {
      tag: 'Vault',
      name: 'get_grant',
      machine: 'vault:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'One grant, and why it was made',
      description:
        'Shows one grant without its values, with the policies and the approval that it rests on. An agent sees its own grants.',
      method: 'get',
      path: '/api/v1/vault/grants/{id}',
      who: WHO,
      params: Type.Object({ id: Text }),
      ok: Type.Object({
        ...grantFields,
        why: named(
          'GrantReason',
          Type.Object({
            policies: Type.Array(PolicyVersionShape),
            approval: nullable(
              named(
                'GrantApproval',
                Type.Object({
                  id: Type.String(),
                  responded_by: nullable(Type.String()),
                  responded_at: NullableTime,
                }),
              ),
            ),
            capability_jti: Type.String(),
          }),
        ),
      }),
      refusals: { grant_not_found: 404 },
    },
    async ({ tenantId, params, principal }) => {
      await grantsAreLevel(vault);
      const filter = {
        tenantId,
        now: vault.clock.now(),
        grantId: params.id,
        ownAgentId: agentOnly(principal),
      };
      return vault.database.asTenant(tenantId, async (sql) => {
        const row = await findGrant(sql, filter);
        if (row === undefined) return { refused: 'grant_not_found' };
        const { rows } = await sql.query<{ responded_by: string; responded_at: Date }>(
          `SELECT responded_by, responded_at FROM vault.approvals
           WHERE tenant_id = $1 AND approval_id = $2`,
          [tenantId, row.approval_id],
        );
        const approval =
          row.approval_id === null
            ? null
            : {
                id: row.approval_id,
                responded_by: rows[0]?.responded_by ?? null,
                responded_at: rows[0]?.responded_at.toISOString() ?? null,
              };
        const why = { policies: row.policies, approval, capability_jti: row.capability_jti };
        return { ok: { ...shownGrant(row), why } };
      });
    },
  );
