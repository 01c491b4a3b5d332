/**
 * The modules of EventStoreDB's client. They are 150 files, which a process whose events are in PostgreSQL never loads.
 */
import { createRequire } from 'node:module';

type Driver = {
  readonly client: typeof import('@eventstore/db-client').EventStoreDBClient;
  readonly stub: typeof import('@eventstore/db-client/generated/streams_grpc_pb.js').StreamsClient;
  readonly messages: typeof import('@eventstore/db-client/generated/streams_pb.js');
  readonly shared: typeof import('@eventstore/db-client/generated/shared_pb.js');
  readonly status: typeof import('@grpc/grpc-js').status;
};

const load = createRequire(import.meta.url);
let loaded: Driver | undefined;

export function driver(): Driver {
  loaded ??= {
    client: load('@eventstore/db-client').EventStoreDBClient,
    stub: load('@eventstore/db-client/generated/streams_grpc_pb.js').StreamsClient,
    messages: load('@eventstore/db-client/generated/streams_pb.js'),
    shared: load('@eventstore/db-client/generated/shared_pb.js'),
    status: load('@grpc/grpc-js').status,
  };
  return loaded;
}
