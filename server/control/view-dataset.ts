import type { DatasetAnswer, DatasetCount } from '../contract/dataset.ts';
import { datasetAnswers } from '../contract/dataset.ts';
import type { Within } from '../contract/people.ts';
import { type DatasetSource, exportDataset } from '../datasets/export-dataset.ts';
import { type ExportFormat, exportRequests } from '../ledger/export.ts';
import type { LedgerQueries } from '../ledger/queries.ts';
import type { RequestConditions } from '../ledger/request-filter.ts';
import { nextTurn } from '../loop-turns.ts';
import { exportFilterOf } from './export-filter.ts';
import { type RequestLedger, viewRequest } from './view-request.ts';

type DatasetLedger = RequestLedger & Pick<LedgerQueries, 'listRequests'>;

/** Counts what a dataset of these requests would contain, and what it would lack. Reads all of them. */
export async function countDataset(
  ledger: DatasetLedger,
  filter: RequestConditions,
  answer: DatasetAnswer,
): Promise<DatasetCount> {
  const lines = exportDataset(sourceOf(ledger, filter), answer);
  let next = await lines.next();
  while (!next.done) next = await lines.next();
  return next.value;
}

interface ExportQuestion {
  parameters: Readonly<Record<string, unknown>>;
  /** The part of the ledger that the caller may see; absent for all of it. */
  within?: Within | undefined;
}

/**
 * The requests of a filter as text, newest first; `dataset`: captured conversations. `parameters`: the query parameters
 * of an export's address. Throws GatewayError `invalid_command`.
 */
export function exportLedger(
  ledger: DatasetLedger,
  format: ExportFormat | 'dataset',
  { parameters, within }: ExportQuestion,
): AsyncIterable<string> {
  const { answer, ...conditions } = parameters;
  const visible = within && { within };
  if (format !== 'dataset') return exportRequests(ledger, format, { ...exportFilterOf(parameters), ...visible });
  const answerChoice = datasetAnswers.find((each) => each === answer) ?? 'own';
  return exportDataset(sourceOf(ledger, { ...exportFilterOf(conditions), ...visible }), answerChoice);
}

const rowsPerPage = 500;

function sourceOf(ledger: DatasetLedger, filter: RequestConditions): DatasetSource {
  return {
    list: (before) => ledger.listRequests({ ...filter, limit: rowsPerPage, ...(before !== undefined && { before }) }),
    async read(id) {
      // Each conversation is parsed and rendered in its own turn of the event loop.
      await nextTurn();
      return viewRequest(ledger, id);
    },
  };
}
