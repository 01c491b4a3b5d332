import { endpoint } from '@cardea/http';
import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { catalogue } from '../texts/texts.ts';
import { pagesOf, read } from './pages-of.ts';

const TEXTS = catalogue({
  en: { lamp: 'Lamp', 'refused.too_bright': 'Too bright.' },
  de: { lamp: 'Lampe', 'refused.too_bright': 'Zu hell.' },
});
const { formOf, pageOf } = pagesOf(TEXTS);
const common = {
  summary: 'A test.',
  tag: 'Development',
  tenant: 'optional',
  who: ['user'],
  access: { class: 'things', applicationScope: 'any' },
  method: 'post',
  path: '/lamps/{id}',
} as const;

const change = endpoint(
  {
    ...common,
    name: 'change_lamp',
    params: Type.Object({ id: Type.String() }),
    body: Type.Object({
      colour: Type.String(),
      watts: Type.Optional(Type.Integer()),
      shade: Type.Optional(Type.Object({ form: Type.String() })),
    }),
    ok: Type.Object({ colour: Type.String() }),
    refusals: { too_bright: 400 },
  },
  async () => ({ ok: { colour: 'red' } }),
);
const refusing = endpoint(
  {
    ...common,
    name: 'break_lamp',
    ok: Type.Object({}),
    refusals: { broken: 409 },
  },
  async () => ({ refused: 'broken' }),
);
const list = endpoint(
  {
    ...common,
    name: 'list_lamps',
    method: 'get',
    path: '/lamps',
    query: Type.Object({ colour: Type.Optional(Type.String()) }),
    ok: Type.Object({ lamps: Type.Array(Type.String()) }),
    refusals: {},
  },
  async () => ({ ok: { lamps: [] } }),
);

const words = { title: 'lamp', submit: 'lamp', done: 'lamp' } as const;
const colour = { name: 'colour', label: 'lamp' } as const;

/** Compiled but never run. The compiler has to refuse each marked line. */
const refusedByTheCompiler = () => [
  // @ts-expect-error: the body has no such field.
  formOf(change, { ...words, fields: [colour, { name: 'size', label: 'lamp' }] }),
  // @ts-expect-error: the object in the body has no such field.
  formOf(change, { ...words, fields: [colour, { name: 'shade.size', label: 'lamp' }] }),
  // @ts-expect-error: a required member has neither field nor preset.
  formOf(change, { ...words, fields: [{ name: 'watts', label: 'lamp' }] }),
  // @ts-expect-error: the preset has another type than the member.
  formOf(change, { ...words, fields: [], preset: { colour: 7 } }),
  // @ts-expect-error: no text has this key.
  formOf(change, { ...words, fields: [{ name: 'colour', label: 'lantern' }] }),
  // @ts-expect-error: the refusal `broken` has no text.
  formOf(refusing, { ...words, fields: [] }),
  // @ts-expect-error: a text lacks German.
  catalogue({ en: { lamp: 'Lamp' }, de: {} }),
  // @ts-expect-error: the query has no such member.
  read(list, { url: { size: 'size' } }),
  pageOf({
    ...{ name: 'a', summary: 'a', description: 'a', path: '/account/lamps', forms: {} },
    reads: { all: read(list) },
    // @ts-expect-error: the page has no such read.
    view: ({ data }) => ({ title: data.lamps }),
  }),
];

describe('a form and its endpoint', () => {
  it('fit together, or do not compile', () => {
    expect(typeof refusedByTheCompiler).toBe('function');
    const fields = [colour, { name: 'shade.form', label: 'lamp' }] as const;
    expect(formOf(change, { ...words, fields }).endpoint).toBe(change);
    const preset = formOf(change, { ...words, fields: [], preset: { colour: 'red' } });
    expect(preset.preset).toEqual({ colour: 'red' });
  });
});
