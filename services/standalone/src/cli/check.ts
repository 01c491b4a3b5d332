/** The result of one check of `doctor`. */
import type { Deployment } from './deployment.ts';

export type Check = {
  /** The default is the name of the check. */
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'failed';
  readonly detail: string;
  readonly fix?: string;
};

export type Finding = Omit<Check, 'name'> & { readonly name?: string };
export type DoctorCheck = (at: {
  readonly deployment: Deployment;
  readonly management: readonly string[] | undefined;
}) => Promise<readonly Finding[]>;

export const ok = (detail: string): readonly Finding[] => [{ status: 'ok', detail }];
export const failed = (detail: string, fix: string): readonly Finding[] => [
  { status: 'failed', detail, fix },
];
export const warning = (detail: string, fix: string): readonly Finding[] => [
  { status: 'warning', detail, fix },
];
