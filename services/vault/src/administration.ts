/** The fields that the administrators' endpoints of vault share. */
export const ADMIN = {
  tag: 'Vault',
  tenant: 'required',
} as const;
export const READS = ['admin', 'api_key:vault:read'] as const;
export const WRITES = ['admin', 'api_key:vault:write'] as const;
