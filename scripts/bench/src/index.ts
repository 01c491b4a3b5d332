export { runBenches, UnknownBench } from './run-benches.ts';
