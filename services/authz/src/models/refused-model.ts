import { faultsOfModel, type Types } from '../relations/rules.ts';

/** The refusal of an invalid model, which names every location that is wrong. */
export function refusedModel(body: { readonly types: Types; readonly conditions?: unknown }) {
  const faults =
    body.conditions === undefined
      ? faultsOfModel(body.types)
      : [{ field: 'conditions', rule: 'unsupported' }];
  return faults.length > 0
    ? { refused: 'model_invalid' as const, details: [...faults] }
    : undefined;
}
