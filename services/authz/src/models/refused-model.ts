import { faultsOfModel, type Types } from '../relations/rules.ts';

/** The answer to what is no model, which names every place that is wrong. */
export function refusedModel(body: { readonly types: Types; readonly conditions?: unknown }) {
  const faults =
    body.conditions === undefined
      ? faultsOfModel(body.types)
      : [{ field: 'conditions', rule: 'unsupported' }];
  return faults.length > 0
    ? { refused: 'model_invalid' as const, details: [...faults] }
    : undefined;
}
