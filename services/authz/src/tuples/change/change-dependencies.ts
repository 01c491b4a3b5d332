/** What a change of tuples needs: the model says which of them it takes. */
import type { WriteDependencies } from '../../http/writing.ts';
import type { CurrentModels } from '../../models/current-models.ts';

export type ChangeDependencies = WriteDependencies & {
  readonly models: Pick<CurrentModels, 'of'>;
};
