/** A second connection inside a transaction fails the test; in production it is counted. */
import { throwOnNestedConnections } from '@cardea/runtime';

throwOnNestedConnections();
