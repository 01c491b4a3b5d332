/** The OpenAPI document of all services: compatible with the released one, and accepted by a linter. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catalogue } from '@cardea/http';
import { afterAll, describe, expect, it } from 'vitest';
import { productVersion } from '../../scripts/events/documents.ts';
import { unexplained } from '../../scripts/events/schema-breaks.ts';
import { documentsOf, product } from '../../scripts/gateway/files.ts';
import { acceptedSurface } from '../../scripts/openapi/accepted.ts';
import { type Document, promisedBy, type Schema } from '../../scripts/openapi/promised.ts';
import { restBreaks } from '../../scripts/openapi/rest-breaks.ts';

const text = documentsOf(await product()).get('openapi.json') ?? '';
const made = (): Document => JSON.parse(text);

type Spoilable = {
  readonly inputs: { [name: string]: Schema };
  readonly required: string[];
  readonly query: object[];
  readonly answer: { [name: string]: Schema };
  readonly always: string[];
  readonly codes: string[];
  readonly callers: string[];
  readonly responses: { [status: string]: object };
  readonly paths: { [path: string]: object };
};

/** One operation, with a body and a query, a response and a refusal, changed by `spoil`. */
function surface(spoil: (all: Spoilable) => void = () => undefined) {
  const inputs: Spoilable['inputs'] = {
    name: { type: 'string' },
    kind: { enum: ['a', 'b'] },
    note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    inner: { type: 'object', required: ['x'], properties: { x: { type: 'string' } } },
  };
  const required = ['name'];
  const answer: Spoilable['answer'] = {
    id: { type: 'string' },
    size: { type: 'integer' },
    tags: { type: 'array', items: { type: 'string' } },
  };
  const always = ['id'];
  const codes = ['name_taken', 'too_many'];
  const callers = ['admin', 'api_key'];
  const query: object[] = [{ name: 'limit', in: 'query', schema: { type: 'integer' } }];
  const json = (schema: object) => ({ content: { 'application/json': { schema } } });
  const error = { type: 'object', properties: { code: { enum: codes } } };
  const responses: Spoilable['responses'] = {
    '201': json({ type: 'object', required: always, properties: answer }),
    '409': json({ type: 'object', properties: { error } }),
  };
  const body = json({ type: 'object', required, properties: inputs });
  const paths: Spoilable['paths'] = {
    '/things': {
      post: {
        'x-callers': callers,
        parameters: query,
        requestBody: { required: true, ...body },
        responses,
      },
    },
  };
  spoil({ inputs, required, query, answer, always, codes, callers, responses, paths });
  return promisedBy({ paths, components: { parameters: {} } } as unknown as Document);
}

const found = (spoil: (all: Spoilable) => void): readonly string[] =>
  restBreaks(surface(), surface(spoil)).map(({ at, what }) => `${at} ${what}`);

describe('a change of the REST surface', () => {
  it.each<[string, (all: Spoilable) => void, string]>([
    ['loses a path', ({ paths }) => delete paths['/things'], ' is gone'],
    ['loses a status', ({ responses }) => delete responses['201'], '201 is gone'],
    ['loses a code', ({ codes }) => codes.pop(), '409 code too_many is gone'],
    ['loses a field of an answer', ({ answer }) => delete answer['size'], '201 /size is gone'],
    ['lets a field be missing', ({ always }) => always.pop(), '201 /id may be missing'],
    [
      'answers another type',
      ({ answer }) => {
        answer['id'] = { type: 'integer' };
      },
      '201 /id may be integer',
    ],
    [
      'answers null',
      ({ answer }) => {
        answer['tags'] = { type: 'array', items: { type: ['string', 'null'] } };
      },
      '201 /tags/- may be null',
    ],
    ['takes a field no more', ({ inputs }) => delete inputs['kind'], 'body /kind is gone'],
    ['takes a parameter no more', ({ query }) => query.pop(), 'query limit is gone'],
    ['asks for a field', ({ required }) => required.push('kind'), 'body /kind is required'],
    [
      'asks for a new field',
      ({ inputs, required }) => {
        inputs['more'] = { type: 'string' };
        required.push('more');
      },
      'body /more is new and required',
    ],
    [
      'asks for a new parameter',
      ({ query }) =>
        query.push({ name: 'q', in: 'query', required: true, schema: { type: 'string' } }),
      'query q is new and required',
    ],
    [
      'takes a value no more',
      ({ inputs }) => {
        inputs['kind'] = { const: 'a' };
      },
      'body /kind takes no "b"',
    ],
    [
      'takes no null any more',
      ({ inputs }) => {
        inputs['note'] = { type: 'string' };
      },
      'body /note takes no null',
    ],
    ['turns a caller away', ({ callers }) => callers.pop(), ' is closed to api_key'],
  ])('that %s breaks clients', (_change, spoil, fault) => {
    expect(found(spoil)).toEqual([fault]);
  });

  it('that adds what need not be sent, or takes more than before, breaks none', () => {
    const wider = (all: Spoilable): void => {
      all.inputs['more'] = {
        type: 'object',
        required: ['y'],
        properties: { y: { type: 'string' } },
      };
      all.inputs['kind'] = { type: 'string' };
      all.query.push({ name: 'q', in: 'query', schema: { type: 'string' } });
      all.answer['more'] = { type: 'string' };
      all.codes.push('another');
      all.callers.push('agent');
      all.responses['202'] = {};
      all.paths['/others'] = all.paths['/things'] as object;
    };
    expect(found(wider)).toEqual([]);
  });
});

describe('the OpenAPI document', () => {
  it('O12 breaks no client of the last release, but for what the changelog owns up to', () => {
    const breaks = restBreaks(acceptedSurface().operations, promisedBy(made()));
    expect(unexplained(breaks, readFileSync('CHANGELOG.md', 'utf8'))).toEqual([]);
  });

  it('O12 is measured by the release that it will follow: `node scripts/openapi.ts --accept` at each', () => {
    expect(acceptedSurface().release).toBe(productVersion());
  });

  it('O12 would be refused without one of its paths', () => {
    const { paths, components } = made();
    const { '/api/v1/webhooks': _, ...others } = paths;
    const breaks = restBreaks(
      acceptedSurface().operations,
      promisedBy({ paths: others, components }),
    );
    // Whole operations; parts of others may be missing if the changelog declares it.
    const gone = breaks.filter(({ at }) => at === '');
    expect(gone.map(({ subject, what }) => `${subject} ${what}`)).toEqual([
      'GET /api/v1/webhooks is gone',
      'POST /api/v1/webhooks is gone',
    ]);
  });
});

describe('an operation', () => {
  it('says of each write without an Idempotency-Key whether it may be repeated', async () => {
    const { common, services } = await product();
    const silent = catalogue([...common, ...services.flatMap(({ endpoints }) => endpoints)])
      .map(({ contract }) => contract)
      .filter(({ method, repeat }) => method !== 'get' && repeat === undefined);
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  it('shows an example of what it takes and of what it answers', () => {
    const json = (content: unknown) =>
      (content as { readonly 'application/json'?: { readonly example?: unknown } })?.[
        'application/json'
      ];
    const without = operations().filter(({ requestBody, responses }) =>
      [requestBody?.content, ...Object.values(responses).map(({ content }) => content)]
        .map(json)
        .some((body) => body?.example === undefined && body !== undefined),
    );
    expect(without.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('has date-time on every field that is called after a moment', () => {
    const schemas = JSON.stringify(JSON.parse(text).components.schemas);
    const silent = [...schemas.matchAll(/"(\w+_at)":\{"type":"string"\}/g)].map(([, name]) => name);
    expect(silent).toEqual([]);
  });
});

type Shown = {
  readonly operationId: string;
  readonly requestBody?: { readonly content: object };
  readonly responses: { readonly [status: string]: { readonly content?: object } };
};
/** Refusals have types instead of examples. */
const operations = (): readonly Shown[] =>
  (Object.values(made().paths) as { readonly [method: string]: Shown }[])
    .flatMap((methods) => Object.values(methods))
    .map((one) => ({
      ...one,
      responses: Object.fromEntries(
        Object.entries(one.responses).filter(([status]) => status.startsWith('2')),
      ),
    }));

describe('the linter', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-openapi-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Problems as `rule pointer`. The linter runs without network access. */
  function lint(file: string): readonly string[] {
    const args = ['lint', file, '--config', 'scripts/openapi/redocly.yaml', '--format', 'json'];
    const env = {
      PATH: process.env['PATH'],
      HOME: folder,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    };
    let said: string;
    try {
      said = execFileSync('node_modules/.bin/redocly', args, { env, stdio: 'pipe' }).toString();
    } catch (error) {
      said = String((error as { stdout?: Buffer }).stdout);
    }
    const { problems } = JSON.parse(said) as {
      problems: { ruleId: string; location: { pointer: string }[] }[];
    };
    return problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`);
  }

  it('O12 has nothing to say about the document', () => {
    const file = join(folder, 'openapi.json');
    writeFileSync(file, text);
    expect(lint(file)).toEqual([]);
  });

  it('O12 finds a name that was given twice, and a keyword that is none', () => {
    const document = JSON.parse(text);
    const operation = document.paths['/api/v1/webhooks'].get;
    operation.operationId = 'createWebhook';
    operation.parameters.push({ name: 'q', in: 'query', schema: { type: 'string', maxBytes: 5 } });
    const file = join(folder, 'spoilt.json');
    writeFileSync(file, JSON.stringify(document));
    const rules = lint(file).map((problem) => problem.split(' ')[0]);
    expect(new Set(rules)).toEqual(new Set(['operation-operationId-unique', 'struct']));
  });
});
