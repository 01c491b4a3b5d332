/** Rows for refusals: one event type on every topic, distinguished by the area of the endpoint. */
import type { actionDenied } from '@cardea/contracts';
import type { Static } from 'typebox';
import type { Category, Details, Mapped, Rule } from '../audit-row.ts';

export type ActionDenied = Omit<Static<(typeof actionDenied)['schema']>, 'area'> & {
  readonly area: string;
};

const AREAS: { readonly [area: string]: { type: string; category: Category } | undefined } = {
  user: { type: 'auth.denied', category: 'auth' },
  admin: { type: 'admin.denied', category: 'admin' },
  agent: { type: 'agent.denied', category: 'agent' },
  vault: { type: 'vault.denied', category: 'vault' },
  authorization: { type: 'authorization.denied', category: 'authorization' },
  fga: { type: 'fga.denied', category: 'fga' },
};

/** 401 and 403 are denials; 409, 410, 422 and 429 are attempts that failed. */
export const resultOf = (status: number): 'denied' | 'failure' =>
  status === 401 || status === 403 ? 'denied' : 'failure';

export const deniedDetails = ({ operation, reason, status, count }: ActionDenied): Details => ({
  operation,
  reason,
  status,
  ...(count > 1 ? { count } : {}),
});

export const denied = (category: Category): Rule<ActionDenied> => ({
  category,
  says: ({ data }): Mapped => {
    const area = AREAS[data.area];
    return {
      type: area?.type ?? 'authorization.denied',
      category: area?.category ?? category,
      action: 'deny',
      result: resultOf(data.status),
      target: data.target ?? { type: 'operation', id: data.operation },
      details: deniedDetails(data),
    };
  },
});
