/** Short notations of the requests that this service's tests send over HTTP. */
import type { RestAnswer, RestDriver, ServiceFixture } from '@cardea/testing';

export type Fields = {
  user_type: string;
  user_id: string;
  relation: string;
  object_type: string;
  object_id: string;
};

/** Parses `user:ann viewer document:d` into five fields. */
export function tuple(text: string): Fields {
  const [subject = '', relation = '', object = ''] = text.split(' ');
  const [user_type = '', user_id = ''] = subject.split(':');
  const [object_type = '', object_id = ''] = object.split(':');
  return { user_type, user_id, relation, object_type, object_id };
}

export type FgaClient = {
  readonly rest: RestDriver;
  write(fields: Fields | string): Promise<RestAnswer>;
  delete(fields: Fields | string): Promise<RestAnswer>;
  check(fields: Fields | string): Promise<RestAnswer>;
  allows(fields: Fields | string): Promise<boolean>;
  list(query?: { readonly [name: string]: string | number }): Promise<RestAnswer>;
  filter(question: string, ids: readonly string[]): Promise<RestAnswer>;
  listObjects(question: string, page?: object): Promise<RestAnswer>;
};

const PATH = '/api/v1/fga/tuples';
const fieldsOf = (fields: Fields | string) => (typeof fields === 'string' ? tuple(fields) : fields);

/** Parses `user:ann viewer document`: a check without its object's id. */
function question(text: string) {
  const { object_id: _, ...rest } = tuple(`${text}:`);
  return rest;
}

export function fgaClient(rest: RestDriver): FgaClient {
  const check = (fields: Fields | string) => rest.post('/api/v1/fga/check', fieldsOf(fields));
  return {
    rest,
    check,
    write: (fields) => rest.post(PATH, fieldsOf(fields)),
    delete: (fields) => rest.delete(PATH, { body: fieldsOf(fields) }),
    allows: async (fields) => (await check(fields)).body.allowed,
    list: (query = {}) => rest.get(PATH, { query }),
    filter: (text, object_ids) =>
      rest.post('/api/v1/fga/filter', { ...question(text), object_ids }),
    listObjects: (text, page = {}) =>
      rest.post('/api/v1/fga/list-objects', { ...question(text), ...page }),
  };
}

/** A client with the rights of the tenant's admin. */
export const adminOf = (fixture: ServiceFixture, tenantId: string): FgaClient =>
  fgaClient(
    fixture.rest.as({
      tenant: tenantId,
      bearer: fixture.tokens.user({ tenantId, id: `admin-of-${tenantId}`, roles: ['admin'] }),
    }),
  );

/** Runs the jobs in this number of lanes, so that a test does not open a thousand sockets. */
export async function inLanes<T>(
  lanes: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
    }),
  );
}
