import type { Within } from '../contract/people.ts';
import { requestFilterSchema } from '../contract/queries.ts';
import type { RecentCaptures } from '../exchange/capture/capture-companion.ts';
import { type ExportFormat, exportRequests } from '../store/sqlite/export.ts';
import type { Ledger } from '../store/sqlite/ledger.ts';
import { parseInput } from './entries/parse-input.ts';
import { type AskedRequests, listRequests, viewPin } from './queries/pinned-requests.ts';

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
  { ledger, recentCaptures }: { ledger: Ledger; recentCaptures: RecentCaptures },
  format: ExportFormat,
  { parameters, within }: ExportQuestion,
): AsyncIterable<string> {
  const filter = { ...filterOf(parameters), ...(within && { within }) };
  return exportRequests(
    {
      listRequests: (page) => listRequests({ ledger, recentCaptures }, { ...filter, ...page }),
      listPins: async () => (await ledger.pins.list()).map(viewPin),
    },
    format,
  );
}

const times = ['sinceMs', 'untilMs'];

function filterOf(parameters: Readonly<Record<string, unknown>>): AskedRequests {
  const values = Object.entries(parameters).map(([name, value]) => [
    name,
    times.includes(name) ? Number(value) : name === 'pinned' ? value === 'true' : value,
  ]);
  return parseInput(requestFilterSchema, Object.fromEntries(values), 'filter') as AskedRequests;
}
