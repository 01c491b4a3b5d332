/** The fields of an audit row that the type of its event decides (`docs/contract.md` 2.12). */
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
/** Lists are cut to the size of a row here and one level down. */
export type DetailValue = DetailPart | { readonly [name: string]: DetailPart };
/** The fields of one service that an agent may access. */
export type Services = { readonly service_name: string; readonly fields: readonly string[] };
export type Details = { readonly [name: string]: DetailValue | undefined };

export type Mapped = {
  /** Public and never changed once released, e.g. `login.success`. */
  readonly type: string;
  readonly action: string;
  readonly result?: Result;
  readonly target: { readonly type: string; readonly id: string | null };
  readonly details?: Details;
  /** Where it differs from the rule's own. */
  readonly category?: Category;
};

/** An event of one type as its rule sees it. */
export type Happened<Data> = Omit<IntegrationEvent, 'data'> & {
  readonly data: Data & { readonly context: EventContext };
};

/** The rules that turn events of one type into rows; `skip` says why some do not become rows. */
export type Rule<Data> =
  | { readonly category: Category; readonly says: (event: Happened<Data>) => Mapped | Skip }
  | Skip;
export type Skip = { readonly skip: string };

/** True when the actor was an admin, by role or in the name of the service. */
export const byAdmin = (event: { readonly actor: { readonly type: string } }): boolean =>
  event.actor.type === 'admin';
