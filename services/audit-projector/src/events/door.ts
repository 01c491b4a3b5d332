/** Who reads the audit log: an admin's own token, and nobody else (`spec.md` 4.7). */
export const AUDIT = {
  tag: 'Audit log',
  who: ['admin'],
  tenant: 'required',
  area: 'admin',
} as const;
