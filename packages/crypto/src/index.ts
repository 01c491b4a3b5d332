export type { Sealed, SealedPlace, Sealer, SubjectKeyRow, SubjectKeyTable } from './sealed.ts';
export { contextPlace, SubjectErased } from './sealed.ts';
