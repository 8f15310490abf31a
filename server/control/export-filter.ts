import { requestFilterSchema } from '../contract/queries.ts';
import type { RequestFilter } from '../ledger/queries.ts';
import { parseInput } from './parse-input.ts';

const times = ['sinceMs', 'untilMs'];

/** The filter given by an export's query parameters. Throws GatewayError `invalid_command`. */
export function exportFilterOf(parameters: Readonly<Record<string, unknown>>): RequestFilter {
  const values = Object.entries(parameters).map(([name, value]) => [
    name,
    times.includes(name) ? Number(value) : value,
  ]);
  return parseInput(requestFilterSchema, Object.fromEntries(values), 'filter') as RequestFilter;
}
