/** Descriptions of the fields of requests and answers whose schemas have none. */
import { accounts } from './accounts.ts';
import { agents } from './agents.ts';
import { authorization } from './authorization.ts';
import { events } from './events.ts';
import { oauth } from './oauth.ts';
import { shared } from './shared.ts';
import { tenants } from './tenants.ts';

const DESCRIPTIONS = new Map(
  [shared, accounts, tenants, oauth, agents, authorization, events].flatMap((each) =>
    Object.entries(each),
  ),
);

/** `owner` is the type or the operation that has the field. A description that is limited to it takes precedence. */
export const fieldDescription = (owner: string | undefined, field: string): string | undefined =>
  DESCRIPTIONS.get(`${owner}.${field}`) ?? DESCRIPTIONS.get(field);
