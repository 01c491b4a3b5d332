/** Tests the types of the OpenAPI document as a generator of clients reads them: their names, and their examples. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { documentsOf, product } from '../../scripts/gateway/files.ts';

type Node = { readonly [keyword: string]: unknown };
type Document = {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: {
    readonly schemas: { readonly [name: string]: Node };
    readonly parameters: { readonly [name: string]: Node };
  };
};
type Operation = {
  readonly operationId: string;
  readonly requestBody?: Answer;
  readonly responses: { readonly [status: string]: Answer };
};
type Answer = {
  readonly content?: { readonly 'application/json'?: { readonly example?: unknown } };
};

const document: Document = JSON.parse(documentsOf(await product()).get('openapi.json') ?? '');
const { schemas, parameters } = document.components;

describe('the types of the OpenAPI document', () => {
  it('have one name for one list of values', () => {
    const counts = new Map<string, number>();
    for (const values of listsIn(document)) {
      const key = JSON.stringify(values);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    expect([...counts].filter(([, uses]) => uses > 1).map(([key]) => key)).toEqual([]);
  });

  it('have names that no parameter has, nor the types that generators make of an operation', () => {
    const taken = new Set([...Object.keys(parameters), ...operationIds().flatMap(generated)]);
    expect(Object.keys(schemas).filter((name) => taken.has(name))).toEqual([]);
  });

  it('accept the examples that are shown for them', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(document, 'api');
    const refused = examples().filter(
      ({ at, example }) => ajv.validate({ $ref: `api#${at}/schema` }, example) !== true,
    );
    expect(refused.map(({ at }) => at)).toEqual([]);
  });
});

/** Examples, with pointers to the contents that they belong to. */
const examples = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody = {}, responses }]) => {
      const operation = `/paths/${path.replaceAll('/', '~1')}/${method}`;
      const answers = Object.entries(responses);
      return [
        { at: `${operation}/requestBody`, content: requestBody.content },
        ...answers.map(([status, { content }]) => ({
          at: `${operation}/responses/${status}`,
          content,
        })),
      ].flatMap(({ at, content }) => {
        const json = content?.['application/json'];
        if (json?.example === undefined) return [];
        return { at: encodeURI(`${at}/content/application~1json`), example: json.example };
      });
    }),
  );

const operationIds = (): readonly string[] =>
  Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );

/** `logIn` becomes `LogInData`, `LogInResponse` and so on. */
const generated = (id: string): readonly string[] =>
  ['Data', 'Error', 'Errors', 'Response', 'Responses'].map(
    (ending) => `${id.charAt(0).toUpperCase()}${id.slice(1)}${ending}`,
  );

/** Finds every list of values in a document. Names of fields are not treated as keywords. */
function listsIn(node: unknown): readonly unknown[] {
  if (typeof node !== 'object' || node === null) return [];
  const own = 'enum' in node && Array.isArray(node.enum) ? [node.enum] : [];
  return [...own, ...Object.values(node).flatMap(listsIn)];
}
