/** Who reads the audit log: an admin's own token, and nobody else (`docs/contract.md` 4.7). */
export const AUDIT = {
  tag: 'Audit log',
  who: ['admin'],
  applicationScope: 'roles',
  tenant: 'required',
  area: 'admin',
} as const;
