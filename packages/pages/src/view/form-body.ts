/** What somebody typed into a form, as the body of the endpoint that the form is for. */
import type { Endpoint } from '@cardea/http';

export type Typed = { readonly [field: string]: string };

type Property = { readonly type?: unknown };

/** An empty field is absent; numbers are read as such, and what is none is left for the endpoint to refuse. */
export function formBody(endpoint: Endpoint, fields: readonly string[], typed: Typed): object {
  const schema = endpoint.contract.body as
    | { readonly properties?: { readonly [name: string]: Property } }
    | undefined;
  return Object.fromEntries(
    fields.flatMap((name) => {
      const text = (typed[name] ?? '').trim();
      if (text === '') return [];
      return [[name, readField(text, schema?.properties?.[name])]];
    }),
  );
}

function readField(text: string, property: Property | undefined): unknown {
  switch (property?.type) {
    case 'integer':
    case 'number':
      return Number.isNaN(Number(text)) ? text : Number(text);
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    default:
      return text;
  }
}
