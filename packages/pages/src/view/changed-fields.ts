/** Compares a form's values with the values that it showed, and with changes that another client has made since. */
import { type Typed, textOfValue } from './form-body.ts';
import type { FormField } from './page-types.ts';

/** The name of the hidden field that contains the value that the page first showed. */
export const shownName = (field: string): string => `was.${field}`;

/** Browsers send the lines of a field with carriage returns. */
const plain = (text: string | undefined): string => (text ?? '').replaceAll('\r\n', '\n').trim();

/** The fields whose typed value differs from the shown one. */
export const changedFields = <Field extends Pick<FormField<string>, 'name'>>(
  fields: readonly Field[],
  typed: Typed,
): readonly Field[] =>
  fields.filter(({ name }) => plain(typed[name]) !== plain(typed[shownName(name)]));

/** The fields that two clients changed to different values, with the current value. */
export const conflicts = (
  changed: readonly Pick<FormField<string>, 'name' | 'kind'>[],
  typed: Typed,
  current: { readonly [field: string]: unknown },
): Typed =>
  Object.fromEntries(
    changed.flatMap(({ name, kind }) => {
      const now = textOfValue(current[name], kind);
      const isTheirs = plain(now) !== plain(typed[shownName(name)]);
      return isTheirs && plain(now) !== plain(typed[name]) ? [[name, now]] : [];
    }),
  );
