/** The authz service: relationship tuples, and checks, filters and lists over them. */

import type { ServiceDefinition } from '@cardea/service';
import { currentModels } from './models/current-models.ts';
import { dryRunModelRoute } from './models/dry-run/dry-run-model.route.ts';
import { models } from './models/model.ts';
import { publishModelRoute } from './models/publish/publish.route.ts';
import { showModelRoute } from './models/show/show.route.ts';
import { noOpWrites } from './no-op-writes/no-op-write.ts';
import { tupleEngine } from './replicas/tuple-engine.ts';
import { changeTuplesRoute } from './tuples/change/change-many.route.ts';
import { deleteTupleRoute } from './tuples/change/delete.route.ts';
import { writeTuple } from './tuples/change/write.route.ts';
import { checkRoute } from './tuples/check/check.route.ts';
import { checkBatchRoute } from './tuples/check-batch/check-batch.route.ts';
import { dryRunRoute } from './tuples/dry-run/dry-run.route.ts';
import { filterRoute } from './tuples/filter/filter.route.ts';
import { forgetPrincipals } from './tuples/forget-principals.consumer.ts';
import { authzRpc } from './tuples/holders/authz-rpc.ts';
import { listTuples } from './tuples/list/list.route.ts';
import { listObjectsRoute } from './tuples/list-objects/list-objects.route.ts';
import { listUsersRoute } from './tuples/list-users/list-users.route.ts';
import { authzRelay } from './tuples/relay.ts';
import { tuples } from './tuples/tuple.ts';
import { tupleSpans } from './tuples/tuple-spans.projection.ts';
import { tuplesTable } from './tuples/tuples.projection.ts';

export {
  importModel,
  MODEL_LANGUAGES,
  type ModelLanguage,
  readModel,
} from './importers/import-model.ts';

export const authzService: ServiceDefinition = {
  name: 'authz',
  streams: [tuples, noOpWrites, models],
  migrations: new URL('../migrations', import.meta.url),
  build: (needs) => {
    const current = currentModels(needs.streams);
    const { engine, dryRun, follower, barrier, acknowledged, loops, stop } = tupleEngine({
      ...needs,
      models: current,
    });
    const writes = { ...needs, follower, barrier, models: current };
    return {
      endpoints: [
        writeTuple(writes),
        changeTuplesRoute(writes),
        deleteTupleRoute(writes),
        listTuples({ ...needs, acknowledged }),
        checkRoute({ ...needs, engine }),
        checkBatchRoute({ engine }),
        filterRoute({ ...needs, engine }),
        listObjectsRoute({ ...needs, engine }),
        dryRunRoute({ dryRun, models: current }),
        showModelRoute(needs),
        publishModelRoute(writes),
        dryRunModelRoute({ dryRun }),
        listUsersRoute({ ...needs, engine }),
      ],
      projections: [tuplesTable, tupleSpans],
      relay: authzRelay,
      consumers: [forgetPrincipals(needs)],
      policies: [],
      loops,
      starts: [],
      stop,
      denialNoun: 'attempt',
      offers: { authz: authzRpc({ engine }) },
    };
  },
};
