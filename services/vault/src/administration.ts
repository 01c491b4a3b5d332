export const READS = ['admin', 'api_key:vault:read'] as const;
export const WRITES = ['admin', 'api_key:vault:write'] as const;
