/** What the pages of this service have in common. */
export const SEVERITY_TONES = { low: 'info', medium: 'info', high: 'warn' } as const;
