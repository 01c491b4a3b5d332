/** The dependencies of a change of tuples. The model decides which tuples are allowed. */
import type { WriteDependencies } from '../../http/writing.ts';
import type { CurrentModels } from '../../models/current-models.ts';

export type ChangeDependencies = WriteDependencies & {
  readonly models: Pick<CurrentModels, 'of'>;
};
