import type { Within } from '../contract/people.ts';
import { requestFilterSchema } from '../contract/queries.ts';
import { type ExportFormat, exportRequests } from '../store/sqlite/export.ts';
import type { LedgerQueries, RequestFilter } from '../store/sqlite/queries.ts';
import { parseInput } from './entries/parse-input.ts';

interface ExportQuestion {
  parameters: Readonly<Record<string, unknown>>;
  /** The part of the ledger that the caller may see; absent for all of it. */
  within?: Within | undefined;
}

/**
 * The requests of a filter as text, newest first. `parameters`: the query parameters of an export's address. Throws
 * GatewayError `invalid_command`.
 */
export function exportLedger(
  ledger: Pick<LedgerQueries, 'listRequests'>,
  format: ExportFormat,
  { parameters, within }: ExportQuestion,
): AsyncIterable<string> {
  return exportRequests(ledger, format, { ...filterOf(parameters), ...(within && { within }) });
}

const times = ['sinceMs', 'untilMs'];

function filterOf(parameters: Readonly<Record<string, unknown>>): RequestFilter {
  const values = Object.entries(parameters).map(([name, value]) => [
    name,
    times.includes(name) ? Number(value) : value,
  ]);
  return parseInput(requestFilterSchema, Object.fromEntries(values), 'filter') as RequestFilter;
}
