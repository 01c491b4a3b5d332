/** Whoever asks for a second connection inside a transaction fails here; in production it is counted. */
import { throwOnNestedConnections } from '@cardea/runtime';

throwOnNestedConnections();
