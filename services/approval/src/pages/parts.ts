/** Parts that this service's pages share. */
export const SEVERITY_TONES = { low: 'info', medium: 'info', high: 'warn' } as const;
