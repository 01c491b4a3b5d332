/** Runs one query by the bare driver, over as many connections as the other side has. */
import { Pool } from 'pg';
import { measureCalls, serveMeasurements } from '../harness.ts';

const [connectionString = '', connections = '1', query = '{}'] = process.argv.slice(2);
const pool = new Pool({ connectionString, max: Number(connections) });
const { text, values } = JSON.parse(query) as { text: string; values: unknown[] };

serveMeasurements((seconds) =>
  measureCalls(Number(connections), seconds, async () => {
    const { rows } = await pool.query(text, values);
    if (rows.length === 0) throw new Error('no rows');
  }),
);
