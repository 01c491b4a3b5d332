/** The driver's own conversion of a parameter, which its types lack. */
declare module 'pg/lib/utils.js' {
  export function prepareValue(value: unknown): string | Buffer | null;
}
