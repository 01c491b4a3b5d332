/**
 * The callers that may read the audit log: an admin's own token, or a machine with that role and the scope
 * (`docs/contract.md` 4.7).
 */
export const AUDIT = {
  tag: 'Audit log',
  who: ['admin'],
  machine: 'audit:read',
  access: { class: 'things', applicationScope: 'roles' },
} as const;
