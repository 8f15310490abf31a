import type { Period } from '../../contract/calendar.ts';
import type { Budget } from '../../contract/limit-settings.ts';

/** The keys and arguments of a subject at a point in time. */
export interface SubjectCall {
  keys: readonly string[];
  args: readonly string[];
  periods: readonly BudgetPeriod[];
}

/** A period for which the subject has budgets. */
export interface BudgetPeriod extends Period {
  per: Budget['per'];
  /** The key of its count in Valkey. */
  key: string;
  /** Script arguments: the end of the period and its hard budgets. */
  args: readonly string[];
  /** When the count for this replica's ledger had begun at the last reply, by Valkey's clock; 0 if unknown. */
  begunMs: number;
}
