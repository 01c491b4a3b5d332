import Type, { type Static, type TSchema } from 'typebox';

/** The shapes that the REST surfaces of all services share: the error body, and lists by page. */
/**
 * Sets the schema's name in clients' types. The OpenAPI document contains the schema once, under this name. Generating
 * the document fails when two different schemas have one name.
 */
export const named = <Schema extends TSchema>(name: string, schema: Schema): Schema => ({
  ...schema,
  title: name,
});

/**
 * Adds keywords that the OpenAPI document shows and that the handler checks itself, because its own error code is more
 * specific than `invalid_request`.
 */
export const documented = <Schema extends TSchema>(
  schema: Schema,
  keywords: { readonly [keyword: string]: unknown },
): Schema => ({ ...schema, documented: keywords });

/**
 * For a property that is named like an id but contains text of others, or an id whose case matters to the caller: UUIDs
 * in it are not changed. Without it, `id`, `*_id` and `*_ids` are converted to lower case.
 */
export const exactText = <Schema extends TSchema>(schema: Schema): Schema => ({
  ...schema,
  exactText: true,
});

/** A time in a response: RFC 3339 in UTC. */
export const Time = Type.String({ format: 'date-time' });
export const NullableTime = Type.Union([Time, Type.Null()]);

export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      code: Type.String(),
      message: Type.String(),
      request_id: Type.String(),
      details: Type.Optional(Type.Unknown()),
    }),
  },
  { description: 'The one error body. A message never quotes input.' },
);
export type ErrorBody = Static<typeof ErrorBody>;

export const PAGE_SIZE_DEFAULT = 50;
export const PAGE_SIZE_MAX = 1000;
/** The maximum offset. Rows beyond it have to be found by filters instead of paging. */
export const PAGE_OFFSET_MAX = 1_000_000;

const OFFSET = Type.Integer({ minimum: 0, maximum: PAGE_OFFSET_MAX, default: 0 });
const LIMIT = Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX, default: PAGE_SIZE_DEFAULT });

/** The query of a paged list, to be spread into an object schema with the list's own filters. */
export const pageQuery = { offset: Type.Optional(OFFSET), limit: Type.Optional(LIMIT) };
/** The fields of a paged list's response besides its rows. */
export const pageAnswer = {
  total: Type.Integer({ minimum: 0 }),
  offset: Type.Integer({ minimum: 0 }),
  limit: Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX }),
};
