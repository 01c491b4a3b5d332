/** The floor of a login: password hashes alone, with the same parameters and concurrency. */

import { measureCalls, serveMeasurements } from '../harness.ts';
import { verifier } from '../subjects/argon2.ts';

const hashing = JSON.parse(process.argv[2] ?? '{}');
const verify = await verifier(hashing);

serveMeasurements((seconds) => measureCalls(hashing.concurrency, seconds, verify));
