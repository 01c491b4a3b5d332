/** The fields of an audit row that depend on the type of its event (`docs/contract.md` 2.12). */
import type { EventContext, IntegrationEvent } from '@cardea/contracts';

export type Category =
  | 'auth'
  | 'agent'
  | 'admin'
  | 'credential'
  | 'authorization'
  | 'fga'
  | 'vault';

export type Result = 'success' | 'failure' | 'denied';

type DetailPart = string | number | boolean | null | readonly string[] | readonly Services[];
/** Lists are cut to the size of a row at this level and one level below. */
export type DetailValue = DetailPart | { readonly [name: string]: DetailPart };
/** The fields of one service that an agent may access. */
export type Services = { readonly service_name: string; readonly fields: readonly string[] };
export type Details = { readonly [name: string]: DetailValue | undefined };

export type Mapped = {
  /** The public name, e.g. `login.success`. It never changes after a release. */
  readonly type: string;
  readonly action: string;
  readonly result?: Result;
  readonly target: { readonly type: string; readonly id: string | null };
  readonly details?: Details;
  /** Set if it differs from the rule's own category. */
  readonly category?: Category;
};

/** An event of one type, as the input of its rule. */
export type Happened<Data> = Omit<IntegrationEvent, 'data'> & {
  readonly data: Data & { readonly context: EventContext };
};

/** Rules that turn events of one type into rows. `skip` states why some events get no row. */
export type Rule<Data> =
  | { readonly category: Category; readonly says: (event: Happened<Data>) => Mapped | Skip }
  | Skip;
export type Skip = { readonly skip: string };

/** Whether the actor was an administrator, by role or in the name of the service. */
export const byAdmin = (event: { readonly actor: { readonly type: string } }): boolean =>
  event.actor.type === 'admin';
