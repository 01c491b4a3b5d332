export type { Sealed, SealedPlace, Sealer, SubjectKeyRow, SubjectKeyTable } from './sealed.ts';
export { SubjectErased } from './sealed.ts';
